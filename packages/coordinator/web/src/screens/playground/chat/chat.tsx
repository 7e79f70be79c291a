import { useEffect } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { ModelPicker, WithModels } from '../model-picker.js';
import { useFirstModel, useModels } from '../models.js';
import type { Models, TryableModel } from '../models.js';
import { useModelFromAddress } from '../model-from-address.js';
import { ChatBar } from './chat-bar.js';
import { changeChat, chat, keepChat, loadChat } from './chat-state.js';
import { Composer } from './composer.js';
import { Settings } from './settings.js';
import { Thread } from './thread.js';

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

/** Both sides always have one; beside the first, another one, where there is another. */
function useChosenModels(models: Models): void {
  const [first, second] = useCell(chat).models;
  useFirstModel(models, first, chooseFirst);
  const others = models.list?.filter(({ id }) => id !== first);
  const rest = others !== undefined && others.length > 0 ? others : models.list;
  useFirstModel({ ...models, list: first === '' ? undefined : rest }, second, chooseSecond);
  useModelFromAddress(chooseFirst);
}
