import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { chat } from './chat-state.js';
import type { Turn } from './conversation.js';
import { TurnView } from './turn.js';
import './thread.css';

/** What was said so far, oldest first. */
export function Thread() {
  const { turns } = useCell(chat);
  useFollow(turns);
  if (turns.length === 0) {
    return (
      <div class="state thread-empty">
        <h2>Nothing said yet.</h2>
        <p>What you send runs on a real GPU of yours or of your network. This tab keeps it.</p>
      </div>
    );
  }
  return (
    <div class="thread">
      {turns.map((turn) => (
        <KeptTurn key={turn.id} turn={turn} />
      ))}
      <Ended turns={turns} />
    </div>
  );
}

/** Drawn anew only when it has changed: a token of the last turn leaves the others alone. */
function KeptTurn({ turn }: { readonly turn: Turn }) {
  return useMemo(() => <TurnView turn={turn} />, [turn]);
}

/** Tells whoever cannot see it that an answer has come, once and not with each token. */
function Ended({ turns }: { readonly turns: readonly Turn[] }) {
  const last = turns.at(-1);
  const answers = last?.answers.filter((one) => one !== null) ?? [];
  const isRunning = answers.some(({ state }) => state === 'running');
  const told = answers.map(({ model, state }) => `${model}: ${WORDS[state]}.`).join(' ');
  return (
    <p class="unseen" role="status">
      {isRunning ? '' : told}
    </p>
  );
}

const WORDS = { running: '', done: 'answered', stopped: 'stopped', failed: 'failed' } as const;

/** Nearer to the end than this, one wants to see what comes. */
const NEAR_PX = 160;

/** Keeps the end in sight for as long as nobody has scrolled away from it. */
function useFollow(turns: readonly Turn[]): void {
  const isNear = useRef(true);
  const count = useRef(turns.length);
  useEffect(() => {
    const look = (): void => {
      const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
      isNear.current = scrollHeight - clientHeight - scrollTop < NEAR_PX;
    };
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  useEffect(() => {
    const isNew = turns.length > count.current;
    count.current = turns.length;
    if (turns.length > 0 && (isNew || isNear.current)) {
      scrollTo({ top: document.documentElement.scrollHeight });
    }
  }, [turns]);
}
