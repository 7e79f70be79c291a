import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { Button } from '../../../ui/button/button.js';
import { CopyIcon } from '../../../ui/button/copy.js';
import { IconButton } from '../../../ui/button/icon-button.js';
import { toastUndo } from '../../../ui/dialog/undo.js';
import { Badge } from '../../../ui/figures/badge.js';
import { Markdown } from '../../../ui/markdown/markdown.js';
import { Code } from '../../../ui/text/code.js';
import { FaultNote } from '../fault-note.js';
import { Pictures } from '../lightbox.js';
import { RunFactsRow } from '../run-facts-row.js';
import { regenerate, retry, sayInstead, stop } from './chat-runs.js';
import { chat, received, update } from './chat-state.js';
import {
  SIDES,
  branchesOf,
  isRunning,
  pathOf,
  removed,
  restored,
  showing,
} from './conversation.js';
import type { Answer, Prompt, Side, ToolCall, Turn } from './conversation.js';
import './thread.css';

/** The turns that are shown, the oldest first. */
export function Thread() {
  const current = useCell(chat);
  const path = pathOf(current);
  useFollow(current.id, path);
  if (path.length === 0) {
    return (
      <div class="state thread-empty">
        <h2>No messages yet.</h2>
        <p>Messages run on a GPU of yours or of your network. This browser keeps the chat.</p>
      </div>
    );
  }
  return (
    <div class="thread">
      {path.map((turn, index) => {
        const branches = branchesOf(current.turns, turn);
        const at = branches.indexOf(turn);
        return (
          <KeptTurn
            key={turn.id}
            turn={turn}
            number={index + 1}
            before={branches[at - 1]?.id}
            after={branches[at + 1]?.id}
            place={branches.length === 1 ? null : `${at + 1} / ${branches.length}`}
          />
        );
      })}
      <Ended turns={path} />
    </div>
  );
}

interface TurnProps {
  readonly turn: Turn;
  /** Its position on the page, from 1. */
  readonly number: number;
  /** The ids of the neighbouring branches. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** Among its branches: `2 / 3`. Null if there is only one. */
  readonly place: string | null;
}

/** Rendered again only if it has changed: a token of the last turn does not affect the others. */
function KeptTurn(props: TurnProps) {
  const { turn, number, before, after, place } = props;
  return useMemo(() => <TurnView {...props} />, [turn, number, before, after, place]);
}

/** Announces to screen readers that an answer has ended: once, and not for each token. */
function Ended({ turns }: { readonly turns: readonly Turn[] }) {
  const last = turns.at(-1);
  const answers = last?.answers.filter((one) => one !== null) ?? [];
  const told = answers.map(({ model, state }) => `${model}: ${WORDS[state]}.`).join(' ');
  return (
    <p class="unseen" role="status">
      {last !== undefined && isRunning(last) ? '' : told}
    </p>
  );
}

const WORDS = {
  running: '',
  done: 'answered',
  stopped: 'stopped',
  interrupted: 'interrupted',
  failed: 'failed',
} as const;

/** Within this distance of the end, the page follows new text. */
const NEAR_PX = 160;

/** Scrolls to the end for new text, unless the reader has scrolled away from it. */
function useFollow(chatId: string, turns: readonly Turn[]): void {
  const isNear = useRef(true);
  const seen = useRef({ chatId, count: turns.length });
  const last = turns.at(-1);
  useEffect(() => {
    const look = (): void => {
      const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
      isNear.current = scrollHeight - clientHeight - scrollTop < NEAR_PX;
    };
    addEventListener('scroll', look, { passive: true });
    return () => removeEventListener('scroll', look);
  }, []);
  useEffect(() => {
    const { chatId: before, count } = seen.current;
    const isNew = chatId !== before || turns.length > count;
    seen.current = { chatId, count: turns.length };
    if (last !== undefined && (isNew || (isNear.current && isRunning(last)))) {
      scrollTo({ top: document.documentElement.scrollHeight });
    }
  }, [chatId, last]);
}

/** A prompt, and the answer or answers to it. */
function TurnView({ turn, number, before, after, place }: TurnProps) {
  const { prompt, answers } = turn;
  const [isEdited, setEdited] = useState(false);
  return (
    <article class="turn" aria-label={`Message ${number}`}>
      {isEdited ? (
        <EditPrompt turn={turn} onClose={() => setEdited(false)} />
      ) : (
        <div class="prompt">
          <PromptPictures prompt={prompt} />
          <p class="plain-text">{prompt.text}</p>
          <span class="row tight">
            <IconButton icon="pencil" label="Edit and resend" onClick={() => setEdited(true)} />
            <IconButton icon="trash" label="Delete the message" onClick={() => remove(turn)} />
          </span>
        </div>
      )}
      {place !== null && (
        <div class="branches small soft" role="group" aria-label="Versions of this message">
          <IconButton
            icon="chevron-left"
            label="Previous version"
            disabled={before === undefined}
            onClick={() => choose(turn, before)}
          />
          <span>{place}</span>
          <IconButton
            icon="chevron-right"
            label="Next version"
            disabled={after === undefined}
            onClick={() => choose(turn, after)}
          />
        </div>
      )}
      <div class="answers">
        {SIDES.map((side) => {
          const answer = answers[side];
          if (answer === null) return null;
          const label = `Answer of ${answer.model} to message ${number}${WHICH[side]}`;
          return <AnswerView key={side} {...{ answer, turn, side, label }} />;
        })}
      </div>
    </article>
  );
}

/** Both models may be the same. */
const WHICH = ['', ', second'] as const;

function choose({ parent }: Turn, id: string | undefined): void {
  if (id !== undefined) update(chat.value.id, (one) => showing(one, { id, parent }));
}

function remove({ id }: Turn): void {
  const before = chat.value;
  stop(before.id, id);
  update(before.id, (one) => removed(one, id));
  toastUndo('The message was deleted.', () =>
    update(before.id, (one) => restored(one, before, id)),
  );
}

function PromptPictures({ prompt: { pictures } }: { readonly prompt: Prompt }) {
  const shots = pictures.filter(({ url }) => url !== '');
  const lost = pictures.filter(({ url }) => url === '');
  if (pictures.length === 0) return null;
  return (
    <div class="thumbs">
      <Pictures shots={shots.map(({ name, url }) => ({ src: url, alt: name, fileName: name }))} />
      {lost.map(({ name }, index) => (
        <span key={index} class="small soft">
          {name} was too large to be kept.
        </span>
      ))}
    </div>
  );
}

function EditPrompt({ turn, onClose }: { readonly turn: Turn; readonly onClose: () => void }) {
  const [text, setText] = useState(turn.prompt.text);
  const send = (): void => {
    onClose();
    sayInstead(turn, { ...turn.prompt, text });
  };
  return (
    <form
      class="stack"
      aria-label="Edit the message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        class="input"
        rows={3}
        aria-label="Edited message"
        autofocus
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && onClose()}
      />
      <div class="row">
        <Button type="submit" tone="primary" small disabled={text.trim() === ''}>
          Send again
        </Button>
        <Button small onClick={onClose}>
          Cancel
        </Button>
        <span class="small soft">This version and what follows it are kept.</span>
      </div>
    </form>
  );
}

interface AnswerProps {
  readonly answer: Answer;
  readonly turn: Turn;
  readonly side: Side;
  readonly label: string;
}

function AnswerView({ answer, turn, side, label }: AnswerProps) {
  const { model, state, text, reasoning, toolCalls, facts, fault } = answer;
  const isBegun = text !== '' || reasoning !== '' || toolCalls.length > 0;
  return (
    <section class="answer" aria-label={label} aria-busy={state === 'running'}>
      <header class="row spread">
        <h2 class="mono">{model}</h2>
        <span class="row">
          <StateBadge answer={answer} isOurs={received.has(turn.id)} />
          {text !== '' && <CopyIcon text={text} label="Copy the answer" />}
          {state !== 'running' && (
            <IconButton
              icon="refresh-cw"
              label="Regenerate"
              onClick={() => regenerate(turn, side)}
            />
          )}
        </span>
      </header>
      {reasoning !== '' && <Reasoning text={reasoning} isOver={text !== ''} />}
      {state === 'running' && !isBegun && <p class="soft">Waiting for the first token…</p>}
      {text !== '' && <Markdown text={text} />}
      {toolCalls.map((call, index) => (
        <ToolCallView key={index} call={call} />
      ))}
      {fault !== null && <FaultNote fault={fault} retry={() => retry(turn, side)} />}
      {facts !== null && (
        <RunFactsRow facts={hasId(fault) ? { ...facts, requestId: null } : facts} />
      )}
    </section>
  );
}

/** The error shows the request id. */
function hasId(fault: Answer['fault']): boolean {
  return fault !== null && fault.requestId !== null;
}

function StateBadge({ answer, isOurs }: { readonly answer: Answer; readonly isOurs: boolean }) {
  const { state, finish } = answer;
  return (
    <>
      {state === 'running' && !isOurs && <Badge>in another tab</Badge>}
      {(state === 'stopped' || state === 'interrupted') && <Badge mood="warn">{state}</Badge>}
      {finish === 'length' && <Badge mood="warn">cut at the token limit</Badge>}
    </>
  );
}

function Reasoning({ text, isOver }: { readonly text: string; readonly isOver: boolean }) {
  return (
    <details class="reasoning small">
      <summary>{isOver ? 'Reasoning' : 'Reasoning…'}</summary>
      <p class="plain-text soft">{text}</p>
    </details>
  );
}

/** Longer arguments are shown as they came. */
const MAX_FORMATTED_CHARACTERS = 100_000;

/** A call that the model asks for. The playground runs no tools. */
function ToolCallView({ call }: { readonly call: ToolCall }) {
  return (
    <details class="reasoning small">
      <summary>
        Tool call: <code>{call.name}</code>
      </summary>
      <Code text={formatted(call.arguments)} label="Copy the arguments" />
    </details>
  );
}

function formatted(json: string): string {
  if (json.length > MAX_FORMATTED_CHARACTERS) return json;
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}
