// The panel. Every text is set as text.
function element(name, text, ...children) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  made.append(...children);
  return made;
}
function button(then, ...children) {
  const made = element('button', '', ...children);
  made.type = 'button';
  made.addEventListener('click', then);
  return made;
}
function entry(row, via, then) {
  const made = button(then, element('b', rows[row].label), element('span', via));
  made.dataset.to = row;
  return element('li', '', made);
}
function listed(name, id, entries) {
  const list = element(name, '', ...entries);
  list.id = id;
  return list;
}
const note = (text, name = 'note') => {
  const line = element('p', text);
  line.className = name;
  return line;
};
function changes() {
  if (!data.compares) return [];
  const one = ([row, text]) => element('li', '', button(() => { const pill = centre(row, null); choose(row, pill ? laneOf(pill) : null); }, text));
  const count = data.changes.length;
  return [element('h3', count ? says(words.changes, {count}) : words.noChanges), listed('ul', 'changes', data.changes.map(one))];
}
const help = () => [...changes(), element('h3', words.help), ...words.helps.map((text) => element('p', text))];
// How far it gets, of what is newer.
function outlook(row, reached) {
  const newer = rows.slice(0, row).filter((other) => other.bundle).length;
  const count = reached.filter((other) => other < row && rows[other].bundle).length;
  if (!newer) return note(words.newest, '');
  if (!reached.length && row === data.start && data.noVersion) return note(data.noVersion, 'note dead-end');
  if (!reached.length) return note(says(words.deadEnd, {newer: says(newer === 1 ? words.newerOne : words.newerMany, {count: newer})}), 'note dead-end');
  return note(says(count === newer ? words.reachedAll : words.reachedSome, {count, newer}));
}
// Many steps of one kind are folded: the first and the last are shown.
const MANY = 6;
function steps(way) {
  const kind = (hop) => by(hop.lane, hop.field), entries = [];
  const one = (hop) => entry(hop.to, kind(hop), () => { show(hop.to); choose(hop.to, hop.lane); });
  for (let at = 0; at < way.length;) {
    let end = at;
    while (end < way.length && kind(way[end]) === kind(way[at])) end += 1;
    if (end - at < MANY) entries.push(...way.slice(at, end).map(one));
    else {
      const inner = element('ol', '', ...way.slice(at + 1, end - 1).map(one));
      inner.style.counterReset = `hop ${at + 1}`;
      const more = element('details', '', element('summary', says(words.between, {count: end - at - 2})), inner);
      const item = element('li', '', more);
      item.className = 'more';
      const last = one(way[end - 1]);
      last.style.counterSet = `hop ${end}`;
      entries.push(one(way[at]), item, last);
    }
    at = end;
  }
  return listed('ol', 'hops', entries);
}
function tell(row, lane, reached, goal, way, found) {
  const facts = rows[row];
  const told = [element('h2', facts.label), element('p', facts.name)];
  const marks = element('ul', '', ...facts.marks.map((text) => element('li', text)));
  marks.className = 'marks';
  told.push(marks, outlook(row, reached), ...facts.notes.map((text) => note(text)));
  if (data.keepsToLane) told.push(element('p', lane === null ? words.anyLane : says(words.lane, {channel: lanes[lane]})));
  const next = new Map();
  for (const [to, by_, field] of facts.next) {
    if (data.keepsToLane && lane !== null && by_ !== lane) continue;
    next.set(to, [...(next.get(to) ?? []), by(by_, field)]);
  }
  if (next.size) told.push(element('h3', says(words.next, {count: next.size})));
  told.push(listed('ul', 'next', [...next].map(([to, via]) => entry(to, via.join(', '), () => choose(row, lane, to)))));
  if (facts.barred.length) {
    told.push(element('h3', says(words.barred, {count: facts.barred.length})));
    const why = (places) => element('span', places.map((at) => data.reasons[at]).join('; '));
    told.push(listed('ul', 'barred', facts.barred.map(([to, places]) => element('li', '', element('b', rows[to].label), why(places)))));
  }
  if (!found) told.push(element('h3', says(words.noWay, {to: rows[goal].label})));
  if (way.length) {
    const count = says(way.length === 1 ? words.stepsOne : words.stepsMany, {count: way.length});
    told.push(element('h3', says(words.way, {to: rows[goal].label, steps: count})), steps(way));
  }
  const again = button(clear, words.again);
  again.className = 'again';
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
  const isKey = event.key === 'Enter' || event.key === ' ';
  const bar = event.target.closest('.fold');
  if (bar && isKey) { bar.dispatchEvent(new MouseEvent('click')); event.preventDefault(); }
  const pill = event.target.closest('.pill');
  if (!pill) return;
  const row = number(pill, 'row'), lane = laneOf(pill), seen = pills.filter((each) => !isHidden(number(each, 'row')));
  const own = seen.filter((each) => laneOf(each) === lane), at = own.indexOf(pill);
  const beside = (other) => nearest(seen.filter((each) => laneOf(each) === other), row);
  const to = {ArrowUp: () => own[at - 1], ArrowDown: () => own[at + 1], Home: () => own[0], End: () => own.at(-1),
    ArrowLeft: () => beside(lane - 1), ArrowRight: () => beside(lane + 1)}[event.key];
  if (isKey) picked(pill);
  else if (!to) return;
  else { const next = to(); if (next) focus(next); }
  event.preventDefault();
});
addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && !matches.hidden) matches.hidden = true;
  else if (event.key === 'Escape') clear();
  if (event.key === '/' && event.target !== search) { event.preventDefault(); search.focus(); search.select(); }
});

