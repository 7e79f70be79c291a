import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { Button } from '../../../ui/button/button.js';
import { IconButton } from '../../../ui/button/icon-button.js';
import { Badge } from '../../../ui/figures/badge.js';
import { CopyIcon } from '../../../ui/button/copy.js';
import { Markdown } from '../../../ui/markdown/markdown.js';
import { ModelPicker, WithModels } from '../model-picker.js';
import { useFirstModel, useModels } from '../models.js';
import type { Models, TryableModel } from '../models.js';
import { useModelFromAddress } from '../model-from-address.js';
import { FaultNote } from '../fault-note.js';
import { RunFactsRow } from '../run-facts-row.js';
import { ChatBar } from './chat-bar.js';
import { changeChat, chat, keepChat, loadChat } from './chat-state.js';
import { Composer } from './composer.js';
import { Settings } from './settings.js';
import type { Turn, Answer, Side } from './conversation.js';
import { SIDES } from './conversation.js';
import { sayInstead, regenerate } from './chat-runs.js';
import './thread.css';

export function Chat() {
  useEffect(() => {
    loadChat();
    addEventListener('pagehide', keepChat);
    return () => {
      keepChat();
      removeEventListener('pagehide', keepChat);
    };
  }, []);
  const models = useModels('llm');
  useChosenModels(models);
  return (
    <WithModels models={models} what="chatting">
      {(list) => <Conversation list={list} />}
    </WithModels>
  );
}

function Conversation({ list }: { readonly list: readonly TryableModel[] }) {
  const { isCompared, models, settings } = useCell(chat);
  const used = isCompared ? models : [models[0]];
  const chosen = list.filter(({ id }) => used.includes(id));
  const seesPictures = chosen.length > 0 && chosen.every(({ inputs }) => inputs.includes('image'));
  return (
    <div class="play">
      <section class="play-main" aria-label="Conversation">
        <ChatBar pickers={<Pickers list={list} />} />
        <Thread />
        <Composer seesPictures={seesPictures} />
      </section>
      <Settings settings={settings} onSettings={(next) => changeChat({ settings: next })} />
    </div>
  );
}

function Pickers({ list }: { readonly list: readonly TryableModel[] }) {
  const { models, isCompared } = useCell(chat);
  const [first, second] = models;
  return (
    <>
      <ModelPicker models={list} value={first} onValue={chooseFirst} />
      {isCompared && (
        <ModelPicker label="Second model" models={list} value={second} onValue={chooseSecond} />
      )}
    </>
  );
}

function chooseFirst(model: string): void {
  changeChat({ models: [model, chat.value.models[1]] });
}

function chooseSecond(model: string): void {
  changeChat({ models: [chat.value.models[0], model] });
}

/**
 * Chooses models for both sides; for the second one another model than the first, if there is one.
 */
function useChosenModels(models: Models): void {
  const [first, second] = useCell(chat).models;
  useFirstModel(models, first, chooseFirst);
  const others = models.list?.filter(({ id }) => id !== first);
  const rest = others !== undefined && others.length > 0 ? others : models.list;
  useFirstModel({ ...models, list: first === '' ? undefined : rest }, second, chooseSecond);
  useModelFromAddress(chooseFirst);
}

/** The turns so far, the oldest first. */
function Thread() {
  const { turns } = useCell(chat);
  useFollow(turns);
  if (turns.length === 0) {
    return (
      <div class="state thread-empty">
        <h2>No messages yet.</h2>
        <p>Messages run on a GPU of yours or of your network. This tab keeps them.</p>
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

/** Rendered again only if it has changed: a token of the last turn does not affect the others. */
function KeptTurn({ turn }: { readonly turn: Turn }) {
  return useMemo(() => <TurnView turn={turn} />, [turn]);
}

/** Announces to screen readers that an answer has ended: once, and not for each token. */
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

/** Within this distance of the end, the page follows new text. */
const NEAR_PX = 160;

/** Scrolls to the end for new text, unless the reader has scrolled away from it. */
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

/** A prompt, and the answer or answers to it. */
function TurnView({ turn }: { readonly turn: Turn }) {
  const { id, prompt, answers } = turn;
  const [isEdited, setEdited] = useState(false);
  return (
    <article class="turn" aria-label={`Turn ${id}`}>
      {isEdited ? (
        <EditPrompt turn={turn} onClose={() => setEdited(false)} />
      ) : (
        <div class="prompt">
          {prompt.pictures.length > 0 && (
            <p class="thumbs">
              {prompt.pictures.map(({ name, url }, index) => (
                <img key={index} src={url} alt={name} />
              ))}
            </p>
          )}
          <p class="plain">{prompt.text}</p>
          <IconButton icon="pencil" label="Edit and resend" onClick={() => setEdited(true)} />
        </div>
      )}
      <div class="answers">
        {SIDES.map((side) => {
          const answer = answers[side];
          return answer && <AnswerView key={side} answer={answer} id={id} side={side} />;
        })}
      </div>
    </article>
  );
}

function EditPrompt({ turn, onClose }: { readonly turn: Turn; readonly onClose: () => void }) {
  const [text, setText] = useState(turn.prompt.text);
  const send = (): void => {
    onClose();
    sayInstead(turn.id, { ...turn.prompt, text });
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
        <span class="small soft">Later messages are removed.</span>
      </div>
    </form>
  );
}

interface AnswerProps {
  readonly answer: Answer;
  readonly id: number;
  readonly side: Side;
}

function AnswerView({ answer, id, side }: AnswerProps) {
  const { model, state, text, reasoning, finish, facts, fault } = answer;
  const isWaiting = state === 'running' && text === '' && reasoning === '';
  return (
    <section class="answer" aria-label={`Answer of ${model}`} aria-busy={state === 'running'}>
      <header class="row spread">
        <h2 class="mono">{model}</h2>
        <span class="row">
          {state === 'stopped' && <Badge mood="warn">stopped</Badge>}
          {finish === 'length' && <Badge mood="warn">cut at the token limit</Badge>}
          {text !== '' && <CopyIcon text={text} label="Copy the answer" />}
          {state !== 'running' && (
            <IconButton
              icon="refresh-cw"
              label="Regenerate"
              onClick={() => regenerate({ id, side })}
            />
          )}
        </span>
      </header>
      {reasoning !== '' && <Reasoning text={reasoning} isOver={text !== ''} />}
      {isWaiting && <p class="soft">Waiting for the first token…</p>}
      {text !== '' && <Markdown text={text} />}
      {fault !== null && <FaultNote fault={fault} />}
      {facts !== null && <RunFactsRow facts={facts} />}
    </section>
  );
}

function Reasoning({ text, isOver }: { readonly text: string; readonly isOver: boolean }) {
  return (
    <details class="reasoning small">
      <summary>{isOver ? 'Reasoning' : 'Reasoning…'}</summary>
      <p class="plain soft">{text}</p>
    </details>
  );
}
