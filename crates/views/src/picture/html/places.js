'use strict';
// Where OLM can go from each version is in the data; here it is only followed.
const data = JSON.parse(document.getElementById('data').textContent);
const {rows, lanes, words, folds} = data;
const byId = (id) => document.getElementById(id);
const canvas = byId('canvas'), panel = byId('panel'), search = byId('search');
const svg = canvas.querySelector('svg');
const box = svg.viewBox.baseVal;
const all = (selector) => [...svg.querySelectorAll(selector)];
const pills = all('.card .pill'), edges = all('[data-kind]'), tops = all('.top');
const axis = svg.querySelector('.axis');
const says = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const number = (element, name) => Number(element.dataset[name]);
const attribute = (element, name) => Number(element.getAttribute(name));
const laneOf = (element) => element.closest('[data-lane]') ? number(element.closest('[data-lane]'), 'lane') : null;
const drawn = (name, attributes, text = '') => {
  const made = document.createElementNS(svg.namespaceURI, name);
  for (const each in attributes) made.setAttribute(each, attributes[each]);
  made.textContent = text;
  return made;
};

// Each row has a place. A closed fold is as high as one row; above some rows is room for a note.
const {top: TOP, row: ROW} = data.grid;
const NOTE = 24;
const foldOf = new Map(folds.flatMap(([first, last], fold) => {
  return Array.from({length: last - first + 1}, (_, at) => [first + at, fold]);
}));
const opened = new Set();
const isHidden = (row) => foldOf.has(row) && !opened.has(foldOf.get(row));
const rowAt = (y) => Math.min(rows.length - 1, Math.max(0, Math.floor((y - TOP) / ROW)));
const places = [];
const at = (y) => {
  const row = rowAt(y);
  return places[row] + (isHidden(row) ? ROW / 2 : y - TOP - row * ROW);
};
// What a channel has above its first row and below its last one keeps its distance from them.
const spans = new Map(all('.ground').map((ground, card) => {
  const lane = laneOf(ground), own = pills.filter((pill) => laneOf(pill) === lane).map((pill) => number(pill, 'row'));
  const span = {ground, heading: tops[card], top: attribute(ground, 'y'), first: Math.min(...own), last: Math.max(...own)};
  if (!own.length) span.first = span.last = 0;
  span.head = TOP + span.first * ROW - span.top;
  span.bottom = span.top + attribute(ground, 'height');
  span.tail = span.bottom - TOP - (span.last + 1) * ROW;
  return [lane, span];
}));
function inLane(y, span) {
  if (!span) return at(y);
  const first = TOP + span.first * ROW, last = TOP + (span.last + 1) * ROW;
  if (y < first) return places[span.first] - first + y;
  return y > last ? places[span.last] + ROW + y - last : at(y);
}
const notes = data.notes.map(([row, isGap, text]) => {
  const most = (of) => Math.max(0, ...[...spans.values()].map(of));
  const above = most((span) => span.last === row - 1 ? span.tail : 0), below = most((span) => span.first < row ? 0 : span.head - (span.first - row) * ROW);
  return {row, isGap, text, above, room: above + NOTE + below};
});

// How each part moves: as a whole with its row, or by its points. What a fold hides is not drawn.
const movers = [];
const whole = (element, y) => {
  const span = spans.get(laneOf(element)), isInside = y >= TOP;
  movers.push(() => {
    element.setAttribute('transform', `translate(0 ${inLane(y, span) - y})`);
    element.classList.toggle('folded', isInside && isHidden(rowAt(y)) && !element.matches('.beyond'));
  });
};
const points = (path) => {
  const d = path.getAttribute('d'), span = spans.get(laneOf(path));
  const y = (text) => inLane(Number(text), span);
  movers.push(() => path.setAttribute('d', d.replace(/V(-?\d+)|(-?\d+) (-?\d+)/g,
    (_, down, x, own) => down === undefined ? `${x} ${y(own)}` : `V${y(down)}`)));
};
const value = (element, name) => {
  const own = attribute(element, name), span = spans.get(laneOf(element));
  movers.push(() => element.setAttribute(name, inLane(own, span)));
};
const firstY = (path) => Number(path.getAttribute('d').match(/-?\d+ (-?\d+)/)[1]);
for (const each of pills) whole(each, attribute(each.querySelector('.shape'), 'y') + ROW / 2 - 4);
for (const each of all('.axis .row')) whole(each, attribute(each.querySelector('text'), 'y') - 4);
for (const each of all('.odd')) whole(each, attribute(each, 'y') + ROW / 2);
for (const each of all('.count')) whole(each, attribute(each.querySelector('rect'), 'y') + 7);
for (const each of all('.beyond')) whole(each, attribute(each, 'y'));
for (const each of all('.card .tip,.card .change')) whole(each, firstY(each));
for (const each of all('.card path:not(.tip,.sign,.change)')) points(each);
for (const each of all('.card .stop')) value(each, 'cy');
for (const each of all('.card .stop,.card .stub')) {
  const row = rowAt(each.matches('.stop') ? attribute(each, 'cy') : firstY(each));
  movers.push(() => each.classList.toggle('folded', isHidden(row)));
}
for (const each of edges) {
  const ends = each.dataset.kind === 'replaces' ? [number(each, 'from'), number(each, 'to')] : [number(each, 'to')];
  movers.push(() => each.classList.toggle('folded', ends.every(isHidden)));
}

// The texts between the versions, and a bar for each fold: they stay at the left, as the versions do.
const asides = drawn('g', {class: 'asides'});
svg.append(asides);
for (const note of notes) {
  note.line = drawn('path', {class: 'remark-line'});
  note.shown = drawn('text', {class: 'remark sans', x: 24, 'font-size': 12}, note.text);
  if (note.isGap) asides.before(note.line);
  asides.append(note.shown);
}
const bars = folds.map(([first, last], fold) => {
  const bar = drawn('g', {class: 'fold', role: 'button', tabindex: 0});
  const shown = {bar, title: drawn('title', {}), ground: drawn('rect', {rx: 8}), text: drawn('text', {class: 'sans', x: 24, 'font-size': 12})};
  bar.append(shown.title, shown.ground, shown.text);
  bar.addEventListener('click', () => toggle([fold], !opened.has(fold)));
  asides.append(bar);
  shown.says = {from: rows[last].label, to: rows[first].label, count: last - first + 1};
  return shown;
});
function showBar({bar, title, ground, text, says: values}, fold) {
  const isOpen = opened.has(fold), y = places[folds[fold][0]];
  title.textContent = says(isOpen ? words.fold : words.unfold, values);
  bar.setAttribute('aria-label', title.textContent);
  bar.setAttribute('aria-expanded', isOpen);
  text.textContent = isOpen ? '▾' : '▸ ' + says(words.folded, values);
  text.setAttribute('x', isOpen ? 7 : 24);
  text.setAttribute('y', y + ROW / 2 + 4);
  ground.setAttribute('x', isOpen ? 2 : 16);
  ground.setAttribute('y', y + 3);
  ground.setAttribute('width', isOpen ? 20 : box.width - 32);
  ground.setAttribute('height', ROW - 6);
}
const WHOLE = box.height;
function arrange() {
  let y = TOP;
  const noteAbove = new Map(notes.map((note) => [note.row, note]));
  rows.forEach((_, row) => {
    const note = noteAbove.get(row);
    if (note) { note.y = y + note.above; y += note.room; }
    const isMore = isHidden(row) && foldOf.get(row - 1) === foldOf.get(row);
    places[row] = isMore ? places[row - 1] : y;
    if (!isMore) y += ROW;
  });
  for (const move of movers) move();
  for (const span of spans.values()) {
    const y = inLane(span.top, span);
    span.ground.setAttribute('y', y);
    span.ground.setAttribute('height', inLane(span.bottom, span) - y);
    span.down = y - span.top;
    span.room = inLane(span.bottom, span) - y - span.head - 30;
  }
  const height = WHOLE + y - TOP - rows.length * ROW;
  svg.setAttribute('viewBox', `0 ${box.y} ${box.width} ${height - box.y}`);
  for (const each of all('.axis-ground,.paper')) each.setAttribute('height', height);
  for (const {line, shown, y} of notes) {
    line.setAttribute('d', `M16 ${y + NOTE - 4}H${box.width - 16}`);
    shown.setAttribute('y', y + NOTE - 10);
  }
  bars.forEach(showBar);
}
function toggle(which, isOpen) {
  for (const fold of which) isOpen ? opened.add(fold) : opened.delete(fold);
  arrange();
  byId('fold').textContent = opened.size ? words.foldAll : words.unfoldAll;
  zoom(scale);
  if (chosen) choose(chosen.row, chosen.lane, chosen.end);
  remember();
}
function show(row) {
  if (isHidden(row)) toggle([foldOf.get(row)], true);
}
byId('fold').hidden = !folds.length;
byId('fold').addEventListener('click', () => toggle(folds.keys(), !opened.size));
