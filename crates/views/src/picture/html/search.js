// Search: a version or a name, then those that start with the text, then those that have it in them.
const matches = byId('matches');
const MOST = 50;
function found(text) {
  if (!text) return [];
  const tests = [(row) => row.label === text || row.name === text, (row) => row.label.startsWith(text), (row) => row.label.includes(text) || row.name.includes(text)];
  const rank = (row) => tests.findIndex((test) => test(row));
  const ranked = rows.map((row, at) => [rank(row), at]).filter(([of]) => of >= 0);
  return ranked.sort(([a, x], [b, y]) => a - b || x - y).map(([, at]) => at);
}
function list() {
  const text = search.value.trim(), all_ = found(text), shown = all_.slice(0, MOST);
  const count = element('p', all_.length ? says(words.matches, {count: all_.length}) : says(words.noMatch, {text}));
  count.setAttribute('role', 'status');
  const more = all_.length > MOST ? [element('p', says(words.moreMatches, {count: all_.length - MOST}))] : [];
  const entries = shown.map((row) => entry(row, rows[row].marks.join(', '), () => go(row)));
  matches.replaceChildren(count, element('ul', '', ...entries), ...more);
  matches.hidden = !text;
  search.setAttribute('aria-invalid', String(Boolean(text) && !all_.length));
  for (const each of all('.axis .row')) each.classList.toggle('match', all_.includes(number(each, 'row')));
  remember();
}
function centre(row, lane) {
  show(row);
  const own = pills.filter((each) => number(each, 'row') === row);
  const pill = own.find((each) => laneOf(each) === lane) ?? own[0];
  (pill ?? svg.querySelector(`.row[data-row="${row}"]`)).scrollIntoView({block: 'center', inline: 'center'});
  return pill;
}
function go(row) {
  matches.hidden = true;
  clear();
  const pill = centre(row, null);
  choose(row, pill ? laneOf(pill) : 0);
  if (pill) focus(pill);
}
search.addEventListener('input', list);
search.addEventListener('focus', () => { if (search.value) list(); });
byId('find').addEventListener('submit', (event) => {
  event.preventDefault();
  list();
  const [row] = found(search.value.trim());
  if (row !== undefined) go(row);
});
byId('find').addEventListener('focusout', (event) => {
  if (event.relatedTarget && !byId('find').contains(event.relatedTarget)) matches.hidden = true;
});
byId('find').addEventListener('keydown', (event) => {
  const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (!step || matches.hidden) return;
  const order = [search, ...matches.querySelectorAll('button')];
  order[order.indexOf(document.activeElement) + step]?.focus();
  event.preventDefault();
});
addEventListener('pointerdown', (event) => { if (!byId('find').contains(event.target)) matches.hidden = true; });

