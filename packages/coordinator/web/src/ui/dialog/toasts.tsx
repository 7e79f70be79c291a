/** Short messages about what has just happened, at the edge of the page. */
import type { ComponentChildren } from 'preact';
import { Cell, useCell } from '../../api/cell.js';
import { asFault } from '../../api/fault.js';

type Kind = 'good' | 'bad';

interface Toast {
  readonly id: number;
  readonly text: ComponentChildren;
  readonly kind: Kind;
}

const SHOWN_MS = 5_000;
/** Long enough to copy a request id. */
const REPORTED_MS = 20_000;
const MAX_SHOWN = 3;

const toasts = new Cell<readonly Toast[]>([]);
let nextId = 1;

export function toast(text: ComponentChildren, kind: Kind = 'good', shownMs = SHOWN_MS): void {
  const id = nextId++;
  toasts.value = [...toasts.value, { id, text, kind }].slice(-MAX_SHOWN);
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one.id !== id);
  }, shownMs);
}

/** Shows an error with the coordinator's own message. */
export function toastFault(thrown: unknown): void {
  const { message, reportId } = asFault(thrown);
  if (reportId === null) return toast(message, 'bad');
  const text = (
    <>
      {message} <span class="mono small">{reportId}</span>
    </>
  );
  return toast(text, 'bad', REPORTED_MS);
}

/**
 * Always in the page: screen readers announce only changes of an element that they already know.
 */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useCell(toasts).map(({ id, text, kind }) => (
        <p key={id} class={`toast ${kind}`}>
          {text}
        </p>
      ))}
    </div>
  );
}
