/** Checks of the layout at any width: every control can be reached, read and hit. */
import type { Page } from 'playwright-core';
import { NAME_MOVE } from './page-problems.js';

/** Controls on a touch screen, in px. */
const MIN_TARGET = 32;

const TABLET_PX = 900;
const LAPTOP_PX = 1280;
/** Of a table, from the width of a tablet: about six lines. */
const MAX_ROW_PX = 140;

/** What is wrong with the layout of the page as it is; a line for each fault. */
export function layoutFaults(page: Page, isTouch: boolean): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(`(${FIND_FAULTS})(${isTouch ? MIN_TARGET : 0})`);
}

export const TWO_FRAMES =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/** From now on the page's layout shifts are counted, as the browser scores them. */
export const START_SHIFT_COUNT = `
  window.shift = { since: performance.now(), sum: 0, moved: [] };
  window.shiftObserver ??= new PerformanceObserver((list) => {
    for (const { value, startTime, hadRecentInput, sources } of list.getEntries()) {
      // Others belong to the screen before.
      if (startTime < window.shift.since || hadRecentInput) continue;
      window.shift.sum += value;
      window.shift.moved.push(...sources.map(${NAME_MOVE}));
    }
  });
  window.shiftObserver.observe({ type: 'layout-shift' });`;

/** The limit for a good page (web.dev, Cumulative Layout Shift). */
const MAX_SHIFT = 0.1;

/** What has moved since the count began, if it is too much. */
export function shiftFaults(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(
    `window.shift.sum > ${MAX_SHIFT} ? [window.shift.sum + ': ' + window.shift.moved] : []`,
  );
}

/** Left edge and width of the frame's content. */
export function mainPlace(page: Page): Promise<string> {
  return page.evaluate<string>(`(() => {
    const { left, width } = document.querySelector('main').getBoundingClientRect();
    return left + ' ' + width;
  })()`);
}

/**
 * Runs in the page. A link within a sentence is as high as its line (WCAG 2.5.8), and a control
 * that nobody sees before it has the focus is left out.
 */
const FIND_FAULTS = String.raw`(minTarget) => {
  const root = document.documentElement;
  const edge = root.clientWidth;
  const faults = [];
  const CONTROLS =
    'a[href], button, input, select, textarea, summary, [role=option], [role=slider]';
  const styles = new Map();
  const styleOf = (element) => {
    if (!styles.has(element)) styles.set(element, getComputedStyle(element));
    return styles.get(element);
  };
  const name = (element) => {
    const text = element.ariaLabel || element.innerText || element.name || element.type || '';
    const box = element.getBoundingClientRect();
    const place = [box.left, box.top, box.width, box.height].map(Math.round).join(' ');
    return (
      element.localName + '.' + element.className + ' "' + text.slice(0, 40) + '" at ' + place
    );
  };
  const open = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
  const boxOf = (element) => {
    const own = element.getBoundingClientRect();
    const label = element.matches('input') ? element.closest('label') : null;
    return label === null ? own : label.getBoundingClientRect();
  };
  const isSeen = (element) => {
    if (element.closest('.unseen, .skip:not(:focus), [hidden]') !== null) return false;
    return element.checkVisibility({ visibilityProperty: true });
  };
  if (root.scrollWidth > edge)
    faults.push('the page scrolls sideways: ' + root.scrollWidth + ' px of ' + edge);
  const controls = [...open.querySelectorAll(CONTROLS)].filter(isSeen).map((element) => {
    const box = boxOf(element);
    let scrolls = null;
    let layer = null;
    let cut = null;
    for (let one = element; one !== null && one !== root; one = one.parentElement) {
      const style = styleOf(one);
      if (style.position === 'sticky' || style.position === 'fixed') layer ??= one;
      if (one === element) continue;
      if (scrolls !== null) continue;
      if (style.overflowX === 'auto' || style.overflowX === 'scroll') scrolls = one;
      else if (style.overflowX !== 'visible') cut ??= one;
      if (style.position === 'fixed') break;
    }
    return { element, box, scrolls, layer, cut };
  });
  for (const { element, box, scrolls, cut } of controls) {
    if (box.width < 1 || box.height < 1) {
      faults.push('has no size: ' + name(element));
      continue;
    }
    const style = styleOf(element);
    let [left, right] = [0, edge];
    if (scrolls !== null) {
      const outer = scrolls.getBoundingClientRect();
      if (outer.left < -0.5 || outer.right > edge + 0.5)
        faults.push('its scrolling box leaves the screen: ' + name(element));
      left = outer.left - scrolls.scrollLeft;
      right = left + scrolls.scrollWidth + 1;
    }
    if (box.left < left - 0.5 || box.right > right + 0.5) {
      const shortened = cut !== null && styleOf(cut).textOverflow === 'ellipsis';
      if (!shortened) faults.push('leaves the screen: ' + name(element));
    }
    if (cut !== null && styleOf(cut).textOverflow !== 'ellipsis') {
      const outer = cut.getBoundingClientRect();
      if (box.left < outer.left - 1 || box.right > outer.right + 1)
        faults.push('is cut by its box: ' + name(element));
    }
    const isField = element.matches('input, select, textarea');
    if (
      !isField &&
      style.display !== 'inline' &&
      style.textOverflow !== 'ellipsis' &&
      element.scrollWidth > element.clientWidth + 1
    ) {
      faults.push(
        'its text is cut: ' +
          name(element) +
          ', ' +
          element.scrollWidth +
          ' px of ' +
          element.clientWidth,
      );
    }
    const isInText = element.localName === 'a' && style.display === 'inline';
    if (!isInText && (box.width < minTarget - 0.5 || box.height < minTarget - 0.5)) {
      faults.push('is too small to touch: ' + name(element));
    }
  }
  const places = controls.map(({ element, box, layer, scrolls }) => {
    const style = styleOf(element);
    const room = element.matches('input') ? Number.parseFloat(style.paddingRight) : 0;
    return {
      element,
      layer,
      scrolls,
      left: box.left,
      right: box.right - room,
      top: box.top,
      bottom: box.bottom,
    };
  });
  places.sort((a, b) => a.top - b.top);
  places.forEach((one, index) => {
    for (const other of places.slice(index + 1)) {
      if (other.top >= one.bottom - 1) break;
      if (other.layer !== one.layer || other.scrolls !== one.scrolls) continue;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across <= 1 || down <= 1) continue;
      if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
      if (one.element.closest('label')?.contains(other.element)) continue;
      // Lines of two links in a text share their bounding boxes.
      if (
        styleOf(one.element).display === 'inline' &&
        styleOf(other.element).display === 'inline'
      )
        continue;
      faults.push('overlap: ' + name(one.element) + ' and ' + name(other.element));
    }
  });
  // Text that is drawn outside its card or cell lies on what is beside it.
  for (const element of open.querySelectorAll(
    '.card, .tile, td, th, li, dd, dt, p, h1, h2, h3, .badge, .field, .named, .toasts, main',
  )) {
    if (!isSeen(element)) continue;
    const style = styleOf(element);
    if (
      style.overflowX === 'visible' &&
      style.display !== 'inline' &&
      element.scrollWidth > element.clientWidth + (style.position === 'sticky' ? 9 : 1) &&
      element.clientWidth > 0
    ) {
      faults.push(
        'its content sticks out: ' +
          name(element) +
          ', ' +
          element.scrollWidth +
          ' px of ' +
          element.clientWidth,
      );
    }
  }
  // No tile is alone in the last row.
  for (const tiles of open.querySelectorAll('.tiles')) {
    const boxes = [...tiles.children].map((tile) => tile.getBoundingClientRect());
    const last = boxes.filter(({ top }) => top === boxes.at(-1).top);
    if (last.at(-1).right < tiles.getBoundingClientRect().right - 1)
      faults.push('tiles leave room in their last row: ' + last.length + ' of ' + boxes.length);
  }
  for (const word of open.querySelectorAll('.field > label, .facts dd')) {
    const text = word.innerText;
    const isWhole = !text.includes(' ') && (word.localName === 'label' || text.length <= 16);
    const lineHeight = Number.parseFloat(styleOf(word).lineHeight);
    const letters = document.createRange();
    letters.selectNodeContents(word);
    if (isWhole && letters.getBoundingClientRect().height > 1.5 * lineHeight)
      faults.push('a word is broken: ' + name(word));
  }
  // From the size of a laptop, a table shows all that it has.
  if (innerWidth >= ${LAPTOP_PX}) {
    for (const box of open.querySelectorAll('.table-scroll:not(.wide)')) {
      if (box.scrollWidth > box.clientWidth + 1)
        faults.push(
          'scrolls sideways: ' +
            box.ariaLabel +
            ', ' +
            box.scrollWidth +
            ' px of ' +
            box.clientWidth,
        );
    }
  }
  // From the size of a tablet, a row is not higher than a few lines.
  for (const row of innerWidth >= ${TABLET_PX} ? open.querySelectorAll('tbody tr') : []) {
    if (row.clientHeight > ${MAX_ROW_PX})
      faults.push('a row is ' + row.clientHeight + ' px high: ' + row.innerText.slice(0, 40));
  }
  // Of a table that scrolls, name and menu stick, and leave room for what scrolls below them.
  for (const box of open.querySelectorAll('.table-scroll')) {
    if (box.scrollWidth <= box.clientWidth + 1) continue;
    const before = box.scrollLeft;
    box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;
    const { left, right } = box.getBoundingClientRect();
    let room = box.clientWidth;
    for (const cell of box.querySelector('tbody tr')?.querySelectorAll('.name, .end') ?? []) {
      const place = cell.getBoundingClientRect();
      room -= place.width;
      if (place.left < left - 1 || place.right > right + 1)
        faults.push('does not stick: ' + name(cell));
    }
    if (room < box.clientWidth * 0.2)
      faults.push('what sticks leaves ' + room + ' px: ' + box.ariaLabel);
    box.scrollLeft = before;
  }
  return faults;
}`;
