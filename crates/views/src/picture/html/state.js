// The link: what is chosen, searched, zoomed and unfolded is behind its #. What makes no sense is ignored.
const LONGEST = 4000;
const rowOf = (label) => rows.findIndex((row) => row.label === label);
let isStarted = false, written = null;
function remember() {
  if (!isStarted) return;
  clearTimeout(written);
  written = setTimeout(() => {
    const text = String(stated());
    if (text.length > LONGEST || '#' + text === location.hash) return;
    history.replaceState(null, '', text ? '#' + text : location.pathname + location.search);
  }, 200);
}
function stated() {
  const state = new URLSearchParams();
  const isFirst = chosen ? chosen.row === data.start && chosen.lane === data.startLane && chosen.end === data.end : data.start === null;
  if (!isFirst) state.set('from', chosen ? rows[chosen.row].label : '');
  if (!isFirst && chosen && lanes[chosen.lane]) state.set('in', lanes[chosen.lane]);
  if (!isFirst && chosen && chosen.end !== null) state.set('to', rows[chosen.end].label);
  if (search.value.trim()) state.set('find', search.value.trim().slice(0, 100));
  if (Math.round(scale * 100) !== 100) state.set('zoom', Math.round(scale * 100));
  if (opened.size) state.set('unfold', opened.size === folds.length ? 'all' : [...opened].join('-'));
  return state;
}
function restore() {
  const text = location.hash.slice(1);
  const state = new URLSearchParams(text.length > LONGEST ? '' : text);
  const shown = state.get('unfold') ?? '';
  const isFold = (fold) => /^\d{1,4}$/.test(fold) && Number(fold) < folds.length;
  opened.clear();
  for (const fold of shown === 'all' ? folds.keys() : shown.split('-').filter(isFold)) opened.add(Number(fold));
  toggle([], true);
  const zoomed = state.get('zoom') ?? '';
  zoom(/^\d{1,3}$/.test(zoomed) ? zoomed / 100 : 1);
  search.value = (state.get('find') ?? '').slice(0, 100);
  list();
  matches.hidden = true;
  const row = rowOf(state.get('from')), end = rowOf(state.get('to')), lane = lanes.indexOf(state.get('in'));
  clear();
  if (row >= 0) choose(row, lane < 0 ? null : lane, end < 0 ? null : end);
  else if (!state.has('from') && data.start !== null) choose(data.start, data.startLane, data.end);
  if (chosen) centre(chosen.row, chosen.lane);
}
svg.dataset.page = '';
const title = svg.querySelector('.heading .title');
svg.setAttribute('viewBox', `0 ${attribute(title, 'y') + 6} ${box.width} ${box.height}`);
arrange();
restore();
isStarted = true;
addEventListener('hashchange', restore);
