// The path: breadth first, the newest first.
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
  for (const each of [row, end]) if (each !== null) show(each);
  const came = walk(row, data.keepsToLane ? lane : null);
  const reached = [...came.keys()].filter((other) => other !== row);
  const suggested = reached.filter((other) => rows[row].prerelease || !rows[other].prerelease);
  const goal = end ?? Math.min(row, ...suggested);
  const way = goal === row ? [] : wayTo(came, goal);
  mark(row, came, way);
  tell(row, lane, reached, goal, way, came.has(goal));
  remember();
}
function clear() {
  chosen = null;
  for (const each of all('.on-way,.far,.chosen')) each.classList.remove('on-way', 'far', 'chosen');
  byId('way').replaceChildren();
  count(new Map());
  panel.replaceChildren(...help());
  remember();
}
function mark(row, came, way) {
  const onWay = new Set(way.flatMap((hop) => [hop.from, hop.to]));
  for (const each of all('.card .pill,.row')) {
    const at = number(each, 'row');
    each.classList.toggle('far', !came.has(at));
    each.classList.toggle('on-way', onWay.has(at) && each.classList.contains('pill'));
    each.classList.toggle('chosen', at === row);
  }
  bars.forEach(({bar}, fold) => bar.classList.toggle('on-way', [...onWay].some((at) => foldOf.get(at) === fold)));
  byId('way').replaceChildren(...way.map(followed).filter(Boolean));
  count(came);
}
// How many steps away each version is: beside the axis, where the picture was made with a start.
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
// The edge that a step takes, followed once more; none where one fold hides all of it.
function followed(hop) {
  if (isHidden(hop.from) && foldOf.get(hop.from) === foldOf.get(hop.to)) return null;
  const edge = edges.find((each) => laneOf(each) === hop.lane && each.dataset.kind === hop.field
    && number(each, 'to') === hop.to && each.dataset.from.split(' ').map(Number).includes(hop.from));
  if (!edge) return null;
  const d = hop.field === 'replaces' ? edge.querySelector('path').getAttribute('d') : ridden(edge, hop);
  return drawn('path', {class: 'way', d});
}
function ridden(edge, hop) {
  const bus = edge.parentElement, x = number(bus, 'x');
  const end = edge.querySelector('path').getAttribute('d').match(/-?[\d.]+/g).map(Number);
  const pill = pills.find((each) => laneOf(each) === hop.lane && number(each, 'row') === hop.from);
  const stop = bus.querySelector(`.stop[data-row="${hop.from}"]`);
  const y = stop ? attribute(stop, 'cy') : inLane(number(bus, 'end'), spans.get(hop.lane));
  const shape = pill && pill.querySelector('.shape');
  const from = shape && stop ? attribute(shape, 'x') + attribute(shape, 'width') : x;
  return `M${from} ${y}H${x}V${end[1]}H${end[2]}`;
}

