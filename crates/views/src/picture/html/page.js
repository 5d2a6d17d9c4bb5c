'use strict';
// Where OLM can go from each version is in the data; here it is only followed.
const data = JSON.parse(document.getElementById('data').textContent);
const {rows, lanes, words} = data;
const canvas = document.getElementById('canvas');
const panel = document.getElementById('panel');
const svg = canvas.querySelector('svg');
const box = svg.viewBox.baseVal;
const search = document.getElementById('search');
const pills = [...svg.querySelectorAll('.card .pill')];
const edges = [...svg.querySelectorAll('[data-kind]')];
const says = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const number = (element, name) => Number(element.dataset[name]);
const laneOf = (element) => number(element.closest('[data-lane]'), 'lane');

// How it is looked at: scrolled by the browser, zoomed by us.
let scale = 1;
function zoom(to, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const next = Math.min(4, Math.max(0.1, to));
  const at = [(canvas.scrollLeft + x) / scale, (canvas.scrollTop + y) / scale];
  scale = next;
  svg.setAttribute('width', box.width * scale);
  svg.setAttribute('height', box.height * scale);
  canvas.scrollLeft = at[0] * scale - x;
  canvas.scrollTop = at[1] * scale - y;
  document.getElementById('zoom-is').textContent = Math.round(scale * 100) + ' %';
  keep();
}
// The versions stay at the left, and the name of a channel above what is seen of it.
const axis = svg.querySelector('.axis');
const tops = [...svg.querySelectorAll('.top')];
function keep() {
  const left = canvas.scrollLeft / scale, top = canvas.scrollTop / scale;
  axis.setAttribute('transform', `translate(${left} 0)`);
  svg.classList.toggle('aside-scrolled', left > 1);
  for (const each of tops) {
    const down = Math.min(Math.max(0, top - number(each, 'y')), number(each, 'room'));
    each.setAttribute('transform', `translate(0 ${down})`);
    each.classList.toggle('moved', down > 0);
  }
}
canvas.addEventListener('scroll', keep, {passive: true});
canvas.addEventListener('wheel', (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const {left, top} = canvas.getBoundingClientRect();
  zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - left, event.clientY - top);
}, {passive: false});
let held = null;
canvas.addEventListener('pointerdown', (event) => {
  if (event.button !== 0 || event.pointerType !== 'mouse' || event.target.closest('.pill')) return;
  held = {x: event.clientX + canvas.scrollLeft, y: event.clientY + canvas.scrollTop};
  canvas.classList.add('grabbing');
});
addEventListener('pointermove', (event) => {
  if (held) canvas.scrollTo(held.x - event.clientX, held.y - event.clientY);
});
addEventListener('pointerup', () => { held = null; canvas.classList.remove('grabbing'); });
let pinch = null;
const apart = (touches) => Math.hypot(touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY);
canvas.addEventListener('touchstart', (event) => {
  if (event.touches.length === 2) pinch = {apart: apart(event.touches), scale};
}, {passive: true});
canvas.addEventListener('touchmove', (event) => {
  if (!pinch || event.touches.length !== 2) return;
  event.preventDefault();
  const {left, top} = canvas.getBoundingClientRect(), [a, b] = event.touches;
  zoom(pinch.scale * apart(event.touches) / pinch.apart, (a.clientX + b.clientX) / 2 - left, (a.clientY + b.clientY) / 2 - top);
}, {passive: false});
canvas.addEventListener('touchend', () => { pinch = null; });
document.getElementById('zoom-in').addEventListener('click', () => zoom(scale * 1.25));
document.getElementById('zoom-out').addEventListener('click', () => zoom(scale / 1.25));
document.getElementById('zoom-is').addEventListener('click', () => zoom(1));
document.getElementById('zoom-fit').addEventListener('click', () => zoom(canvas.clientWidth / box.width, 0, 0));
document.getElementById('theme').addEventListener('click', () => {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  document.documentElement.dataset.theme = dark ? 'light' : 'dark';
});

// The way: breadth first, the newest first.
function walk(start, lane) {
  const came = new Map([[start, null]]), queue = [start];
  for (const row of queue) {
    for (const [to, by, field] of rows[row].next) {
      if ((lane !== null && by !== lane) || came.has(to)) continue;
      came.set(to, {from: row, to, lane: by, field});
      queue.push(to);
    }
  }
  return came;
}
function wayTo(came, end) {
  const way = [];
  for (let hop = came.get(end); hop; hop = came.get(hop.from)) way.unshift(hop);
  return way;
}
const by = (lane, field) => lanes[lane] === null ? words.semver : says(words.by, {field, channel: lanes[lane]});

// What is chosen: a start, the lane it was chosen in, perhaps an end.
let chosen = null;
function choose(row, lane, end = null) {
  chosen = {row, lane, end};
  const came = walk(row, data.keepsToLane ? lane : null);
  const reached = [...came.keys()].filter((other) => other !== row);
  const goal = end ?? Math.min(row, ...reached);
  const way = goal === row ? [] : wayTo(came, goal);
  mark(row, came, way);
  tell(row, lane, reached, goal, way, came.has(goal));
}
function clear() {
  chosen = null;
  for (const each of svg.querySelectorAll('.on-way,.far,.chosen')) each.classList.remove('on-way', 'far', 'chosen');
  document.getElementById('way').replaceChildren();
  count(new Map());
  panel.replaceChildren(...help());
}
function mark(row, came, way) {
  const onWay = new Set(way.flatMap((hop) => [hop.from, hop.to]));
  for (const each of svg.querySelectorAll('.card .pill,.row')) {
    const at = number(each, 'row');
    each.classList.toggle('far', !came.has(at));
    each.classList.toggle('on-way', onWay.has(at) && each.classList.contains('pill'));
    each.classList.toggle('chosen', at === row);
  }
  document.getElementById('way').replaceChildren(...way.map(drawn).filter(Boolean));
  count(came);
}
// How many hops away each version is: beside the axis, where the picture was made with a start.
const first = axis.querySelector('.hops');
const counts = !first ? [] : [...axis.querySelectorAll('.row')].map((each) => {
  const own = each.querySelector('.hops') ?? each.appendChild(first.cloneNode());
  own.setAttribute('y', each.querySelector('text').getAttribute('y'));
  return {at: number(each, 'row'), own};
});
function count(came) {
  const away = new Map();
  for (const [row, hop] of came) away.set(row, hop ? away.get(hop.from) + 1 : 0);
  for (const {at, own} of counts) {
    const hops = away.get(at);
    own.textContent = hops === undefined ? '' : hops ? says(words.away, {count: hops}) : words.start;
  }
}
// The edge that a hop takes, followed once more.
function drawn(hop) {
  const edge = edges.find((each) => laneOf(each) === hop.lane && each.dataset.kind === hop.field
    && number(each, 'to') === hop.to && each.dataset.from.split(' ').map(Number).includes(hop.from));
  if (!edge) return null;
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('class', 'way');
  path.setAttribute('d', hop.field === 'replaces' ? edge.querySelector('path').getAttribute('d') : ridden(edge, hop));
  return path;
}
function ridden(edge, hop) {
  const x = number(edge.parentElement, 'x'), end = edge.querySelector('path').getAttribute('d').match(/-?\d+/g).map(Number);
  const pill = pills.find((each) => laneOf(each) === hop.lane && number(each, 'row') === hop.from);
  const stop = edge.parentElement.querySelector(`.stop[data-row="${hop.from}"]`);
  const y = stop ? Number(stop.getAttribute('cy')) : number(edge.parentElement, 'end');
  const shape = pill && pill.querySelector('.shape');
  const from = shape && stop ? Number(shape.getAttribute('x')) + Number(shape.getAttribute('width')) : x;
  return `M${from} ${y}H${x}V${end[1]}H${end[2]}`;
}

// The panel. Every text is set as text.
function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}
function entry(row, via, then) {
  const button = element('button', '', element('b', rows[row].label), element('span', via));
  button.type = 'button';
  button.dataset.to = row;
  button.addEventListener('click', then);
  return element('li', '', button);
}
const help = () => [element('h3', words.help), ...words.helps.map((text) => element('p', text))];
function tell(row, lane, reached, goal, way, found) {
  const facts = rows[row];
  const told = [element('h2', facts.label), element('p', facts.name)];
  const marks = element('ul', '', ...facts.marks.map((text) => element('li', text)));
  marks.className = 'marks';
  told.push(marks);
  for (const note of facts.notes) { const line = element('p', note); line.className = 'note'; told.push(line); }
  if (data.keepsToLane) told.push(element('p', lane === null ? words.anyLane : says(words.lane, {channel: lanes[lane]})));
  const next = new Map();
  for (const [to, by_, field] of facts.next) {
    if (data.keepsToLane && lane !== null && by_ !== lane) continue;
    next.set(to, [...(next.get(to) ?? []), by(by_, field)]);
  }
  told.push(element('h3', next.size ? says(words.next, {count: next.size}) : words.none));
  const list = element('ul', '', ...[...next].map(([to, via]) => entry(to, via.join(', '), () => choose(row, lane, to))));
  list.id = 'next';
  told.push(list);
  if (facts.barred.length) {
    told.push(element('h3', says(words.barred, {count: facts.barred.length})));
    const why = (places) => element('span', places.map((at) => data.reasons[at]).join('; '));
    const barred = element('ul', '', ...facts.barred.map(([to, places]) => element('li', '', element('b', rows[to].label), why(places))));
    barred.id = 'barred';
    told.push(barred);
  }
  if (!found) told.push(element('h3', says(words.noWay, {to: rows[goal].label})));
  if (way.length) {
    told.push(element('h3', says(words.way, {to: rows[goal].label, count: way.length})));
    const hops = element('ol', '', ...way.map((hop) => entry(hop.to, by(hop.lane, hop.field), () => choose(hop.to, hop.lane))));
    hops.id = 'hops';
    told.push(hops);
  }
  told.push(element('p', says(words.reached, {count: reached.length})));
  const again = element('button', words.again);
  again.type = 'button';
  again.className = 'again';
  again.addEventListener('click', clear);
  told.push(again);
  panel.replaceChildren(...told);
}

// Versions are buttons: one of them is in the order of the tab key, arrows lead to the others.
const picked = (pill) => {
  const row = number(pill, 'row'), lane = laneOf(pill);
  if (chosen && chosen.row !== row) choose(chosen.row, chosen.lane, row);
  else choose(row, lane);
};
function focus(pill) {
  for (const each of pills) each.setAttribute('tabindex', each === pill ? '0' : '-1');
  pill.focus();
}
pills.forEach((pill, at) => {
  pill.setAttribute('tabindex', at ? '-1' : '0');
  pill.setAttribute('role', 'button');
  pill.setAttribute('aria-label', pill.querySelector('title').textContent);
  pill.addEventListener('click', () => picked(pill));
});
const nearest = (found, row) => found.reduce((best, each) =>
  !best || Math.abs(number(each, 'row') - row) < Math.abs(number(best, 'row') - row) ? each : best, null);
canvas.addEventListener('keydown', (event) => {
  const pill = event.target.closest('.pill');
  if (!pill) return;
  const row = number(pill, 'row'), lane = laneOf(pill);
  const own = pills.filter((each) => laneOf(each) === lane), at = own.indexOf(pill);
  const inLane = (other) => nearest(pills.filter((each) => laneOf(each) === other), row);
  const to = {ArrowUp: () => own[at - 1], ArrowDown: () => own[at + 1], Home: () => own[0], End: () => own.at(-1),
    ArrowLeft: () => inLane(lane - 1), ArrowRight: () => inLane(lane + 1)}[event.key];
  if (event.key === 'Enter' || event.key === ' ') picked(pill);
  else if (!to) return;
  else { const next = to(); if (next) focus(next); }
  event.preventDefault();
});
addEventListener('keydown', (event) => {
  if (event.key === 'Escape') clear();
  if (event.key === '/' && event.target !== search) { event.preventDefault(); search.focus(); search.select(); }
});

// Search: a version or a name, else the first that has the text in it.
const list = document.getElementById('versions');
list.append(...rows.map((row) => { const option = document.createElement('option'); option.value = row.label; return option; }));
function find(text) {
  const tests = [(row) => row.label === text || row.name === text, (row) => row.label.startsWith(text), (row) => row.name.includes(text)];
  for (const test of tests) { const at = rows.findIndex(test); if (at >= 0) return at; }
  return -1;
}
document.getElementById('find').addEventListener('submit', (event) => {
  event.preventDefault();
  const row = find(search.value.trim());
  search.setAttribute('aria-invalid', String(row < 0));
  if (row < 0) return;
  const pill = pills.find((each) => number(each, 'row') === row);
  const shown = pill ?? svg.querySelector(`.row[data-row="${row}"]`);
  clear();
  choose(row, pill ? laneOf(pill) : 0);
  shown.scrollIntoView({block: 'center', inline: 'center'});
  if (pill) focus(pill);
});

svg.dataset.page = '';
zoom(1);
if (data.start === null) clear();
else choose(data.start, data.startLane, data.end);
