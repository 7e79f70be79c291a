import { useLocation } from 'preact-iso';
import { useEffect, useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { Button } from '../../../ui/button/button.js';
import { Banner } from '../../../ui/dialog/banner.js';
import { Dialog } from '../../../ui/dialog/dialog.js';
import { toast } from '../../../ui/dialog/toasts.js';
import { asJob } from '../call.js';
import type { ApiRequest } from '../call.js';
import { CodeButton } from '../code-drawer.js';
import { ModelPicker, WithModels } from '../model-picker.js';
import { useFirstModel, useModelFromAddress, useModels } from '../models.js';
import type { Models, TryableModel } from '../models.js';
import { AsyncSwitch } from '../run-as-job.js';
import { ChatList } from './chat-list.js';
import { LINK_PARAMETERS, NUMBERS, isChanged, settingsOfLink } from './chat-settings.js';
import type { Linked } from './chat-settings.js';
import { changeChat, chat, loadChats, newChat } from './chat-state.js';
import { pageHides, saveAll, trouble } from './chat-state.js';
import { Composer } from './composer.js';
import { ancestorsOf, chatRequest, isEmpty, messagesOf, pathOf } from './conversation.js';
import type { Prompt, Turn } from './conversation.js';
import { Settings } from './settings.js';
import { dropUnsaved } from './tab-storage.js';
import { Thread } from './thread.js';

export function Chat() {
  useEffect(() => {
    void loadChats();
    const turn = (): void => (document.visibilityState === 'hidden' ? pageHides() : dropUnsaved());
    addEventListener('pagehide', pageHides);
    document.addEventListener('visibilitychange', turn);
    return () => {
      void saveAll();
      removeEventListener('pagehide', pageHides);
      document.removeEventListener('visibilitychange', turn);
    };
  }, []);
  const models = useModels('llm');
  useChosenModels(models);
  return (
    <>
      <LinkedSettings />
      <WithModels models={models} what="chatting">
        {(list) => <Conversation list={list} />}
      </WithModels>
    </>
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
        <div>
          <NotKept />
          <ChatBar list={list} />
        </div>
        <Thread />
        <Composer seesPictures={seesPictures} />
      </section>
      <div class="play-side">
        <ChatList />
        <Settings
          settings={settings}
          model={models[0]}
          onSettings={(next) => changeChat({ settings: next })}
        />
      </div>
    </div>
  );
}

function NotKept() {
  const why = useCell(trouble);
  if (why === null) return null;
  return <Banner mood="warn" text={`${why} This chat goes on until the tab is closed.`} />;
}

function ChatBar({ list }: { readonly list: readonly TryableModel[] }) {
  const { isCompared, isAsync, turns, models } = useCell(chat);
  const [first, second] = models;
  return (
    <div class="play-bar">
      <div class="play-pickers">
        <ModelPicker models={list} value={first} onValue={chooseFirst} />
        {isCompared && (
          <ModelPicker label="Second model" models={list} value={second} onValue={chooseSecond} />
        )}
      </div>
      <div class="row">
        {!isCompared && (
          <AsyncSwitch checked={isAsync} onChecked={(on) => changeChat({ isAsync: on })} />
        )}
        <Button
          small
          icon="columns-2"
          aria-pressed={isCompared}
          onClick={() => changeChat({ isCompared: !isCompared, isAsync: false })}
        >
          Compare two
        </Button>
        <CodeButton request={shownRequest} />
        <Button small icon="plus" disabled={turns.length === 0} onClick={() => newChat()}>
          New chat
        </Button>
      </div>
    </div>
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
  // A reload opens the chat of this tab first.
  useModelFromAddress((model) => void loadChats().then(() => chooseFirst(model)));
}

/** The request for the typed text; without one, the last request. */
function shownRequest(): ApiRequest {
  const { draft, isAsync, turns } = chat.value;
  const path = pathOf(chat.value);
  const last = path.at(-1);
  if (!isEmpty(draft)) return requestAfter(path, draft, isAsync);
  if (last === undefined) return requestAfter([], { text: 'Hello', pictures: [] }, isAsync);
  return requestAfter(ancestorsOf(turns, last), last.prompt, isAsync);
}

function requestAfter(turns: readonly Turn[], prompt: Prompt, isAsync: boolean): ApiRequest {
  const { settings, models } = chat.value;
  const messages = messagesOf(turns, prompt, { side: 0, system: settings.system });
  const request = chatRequest(models[0], messages, { settings, isStreamed: !isAsync });
  return isAsync ? asJob(request) : request;
}

// Links that set something.

/** Asks before a text from the address becomes a system prompt. Nothing is sent by a link. */
function LinkedSettings() {
  const { query, path, route } = useLocation();
  const [asked, setAsked] = useState<Linked | null>(null);
  useEffect(() => {
    const linked = settingsOfLink(query);
    if (linked === null) return;
    const rest = new URLSearchParams(location.search);
    for (const name of LINK_PARAMETERS) rest.delete(name);
    // Otherwise a reload would set them again.
    route(rest.size === 0 ? path : `${path}?${rest}`, true);
    const { system, stop } = linked.settings;
    const isPlain = system === '' && stop === '' && linked.problems.length === 0;
    if (isPlain) void use(linked);
    else setAsked(linked);
  }, [query]);
  if (asked === null) return null;
  const close = (): void => setAsked(null);
  return <LinkDialog linked={asked} onClose={close} />;
}

async function use({ settings }: Linked): Promise<void> {
  await loadChats();
  newChat({ settings });
  toast('This chat has the settings of the link.');
}

function LinkDialog({
  linked,
  onClose,
}: {
  readonly linked: Linked;
  readonly onClose: () => void;
}) {
  const { settings, problems } = linked;
  const { system, stop } = settings;
  return (
    <Dialog title="This link brings settings" shape="wide" onClose={onClose}>
      <div class="stack">
        {system !== '' && <LinkedText name="System prompt" text={system} />}
        {stop !== '' && <LinkedText name="Stop" text={stop} />}
        {NUMBERS.filter(({ name }) => settings[name] !== '').map(({ name, label }) => (
          <p key={name}>
            {label}: {settings[name]}
          </p>
        ))}
        {problems.map((problem) => (
          <p key={problem} class="warn">
            Left out: {problem}
          </p>
        ))}
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Ignore the link</Button>
        {isChanged(settings) && (
          <Button
            tone="primary"
            onClick={() => {
              onClose();
              void use(linked);
            }}
          >
            Begin a chat with them
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function LinkedText({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div class="stack tight">
      <p>{name}:</p>
      <blockquote class="plain-text clamped linked-text" tabIndex={0}>
        {text}
      </blockquote>
    </div>
  );
}
