// Keeps a page up to date that reads well without it: asks the server for the page again and takes over what lies in #live.

const live = document.getElementById('live');
const announcer = document.getElementById('announce');

/** Somebody who types or chooses there must not lose it. */
const isInUse = () => live.querySelector('form:focus-within') !== null;

let newest = 0;
async function refresh(address = location.href) {
  const turn = ++newest;
  const response = await fetch(address, { headers: { accept: 'text/html' }, redirect: 'manual' }).catch(
    () => undefined,
  );
  // Signed out: the sign-in page is the place to be.
  if (response?.type === 'opaqueredirect') location.reload();
  if (!response?.ok || turn !== newest) return;
  const next = new DOMParser().parseFromString(await response.text(), 'text/html').getElementById('live');
  if (turn !== newest || next === null || isInUse()) return;
  takeOver(next);
}

function takeOver(next) {
  const open = new Set([...live.querySelectorAll('details[open] > summary')].map((each) => each.textContent));
  const focused = live.contains(document.activeElement) ? describe(document.activeElement) : undefined;
  const before = headState(live);
  live.replaceChildren(...next.childNodes);
  for (const summary of live.querySelectorAll('details > summary'))
    if (open.has(summary.textContent)) summary.parentElement.open = true;
  if (focused) [...live.querySelectorAll(focused.tag)].find((each) => describe(each).text === focused.text)?.focus();
  const now = headState(live);
  if (now !== undefined && now !== before) announcer.textContent = `The task is now ${now}`;
}

const describe = (element) => ({
  tag: element.tagName,
  text: element.getAttribute('aria-label') ?? element.textContent,
});
const headState = (root) => root.querySelector('.head .badge')?.textContent.trim().replace(/^\S+ /, '');

/** Many calls in a short while are one, the last. */
function debounce(work, ms) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), ms);
  };
}

function followEvents(address) {
  const events = new EventSource(address);
  const soon = debounce(refresh, 120);
  for (const type of ['task.accepted.v1', 'task.transitioned.v1', 'step.transitioned.v1', 'task.gate_opened.v1'])
    events.addEventListener(type, (event) => {
      const { data } = JSON.parse(event.data);
      // At its end the page has no stream any more.
      if (type === 'task.transitioned.v1' && (data.to === 'completed' || data.to === 'failed')) events.close();
      soon();
    });
  events.addEventListener('step.progress.v1', (event) => {
    const { stepid, data } = JSON.parse(event.data);
    if (data.kind === 'started') return soon();
    const line = live.querySelector(`[data-step="${CSS.escape(stepid)}"] [data-progress]`);
    if (line === null) return;
    const share = data.fraction === undefined ? '' : ` ${Math.round(data.fraction * 100)} %`;
    line.textContent = data.kind === 'ended' ? '' : `${data.message ?? 'works'}${share}`;
  });
}

function showAges() {
  for (const time of document.querySelectorAll('time[data-age]')) {
    const ms = Date.now() - Date.parse(time.dateTime);
    time.textContent = ms < 0 ? `in ${toText(-ms)}` : `${toText(ms)} ago`;
  }
}

function toText(ms) {
  if (ms < 60_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`;
}

const DAY = 86_400_000;

/** A slider beside each of the two clocks; both are shown as they move. */
function addSliders(form) {
  const soon = debounce(async () => {
    const address = `${form.action.split('?')[0]}?${new URLSearchParams(new FormData(form))}`;
    history.replaceState(null, '', address);
    live.setAttribute('aria-busy', 'true');
    await refresh(address);
    live.removeAttribute('aria-busy');
  }, 60);
  for (const slider of form.querySelectorAll('input[type=range][data-for]')) {
    const field = form.elements[slider.dataset.for];
    const { from, until } = slider.dataset;
    const start = Date.parse(from);
    if (from) slider.max = String(Math.round((Date.parse(until) - start) / DAY));
    const toSlider = from ? (text) => Math.round((Date.parse(`${text}Z`) - start) / DAY) : Number;
    const toField = from ? (value) => new Date(start + value * DAY).toISOString().slice(0, 19) : String;
    const show = () => {
      slider.value = String(toSlider(field.value));
      slider.setAttribute('aria-valuetext', field.value.slice(0, 10));
    };
    slider.hidden = false;
    show();
    slider.addEventListener('input', () => {
      field.value = toField(Number(slider.value));
      slider.setAttribute('aria-valuetext', field.value.slice(0, 10));
      soon();
    });
    field.addEventListener('change', () => {
      show();
      soon();
    });
  }
}

if (live.dataset.events) followEvents(live.dataset.events);
if (live.dataset.every)
  setInterval(() => {
    if (document.visibilityState === 'visible' && !isInUse()) void refresh();
  }, Number(live.dataset.every));
for (const form of document.querySelectorAll('form[data-pin]')) addSliders(form);
setInterval(showAges, 1_000);
