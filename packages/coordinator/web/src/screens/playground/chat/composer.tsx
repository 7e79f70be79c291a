import { useRef } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { Button } from '../../../ui/button/button.js';
import { IconButton } from '../../../ui/button/icon-button.js';
import { toast, toastFault } from '../../../ui/dialog/toasts.js';
import { Fault } from '../../../api/fault.js';
import { formatBytes } from '../../../ui/text/format.js';
import { FaultNote } from '../fault-note.js';
import { SUBMITS } from '../run-button.js';
import { shownOf } from '../run-facts.js';
import { useJobAct } from '../run-as-job.js';
import { dataUrl, useDrop } from '../file-drop.js';
import type { ApiRequest } from '../call.js';
import { say, stop } from './chat-runs.js';
import { changeChat, chat, received } from './chat-state.js';
import { NO_PROMPT, chatRequest, isEmpty, isRunning, messagesOf, pathOf } from './conversation.js';
import type { Picture, Prompt } from './conversation.js';
import './composer.css';

/** The input for the next message. */
export function Composer({ seesPictures }: { readonly seesPictures: boolean }) {
  const { id, draft, turns, isAsync } = useCell(chat);
  const job = useJobAct();
  const isBusy = turns.some((turn) => isRunning(turn) && received.has(turn.id));
  const send = async (): Promise<void> => {
    if (isEmpty(draft) || isBusy || job.isBusy) return;
    if (!isAsync) {
      changeChat({ draft: NO_PROMPT });
      say(draft);
    } else if (await job.run(jobOf(draft))) {
      changeChat({ draft: NO_PROMPT });
    }
  };
  const take = (files: readonly File[]): void => void addPictures(files, seesPictures);
  const { isOver, on } = useDrop(take);
  return (
    <form
      class={`composer${isOver ? ' over' : ''}`}
      aria-label="Message"
      {...on}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {job.fault !== null && (
        <FaultNote fault={shownOf(job.fault)} {...(!isEmpty(draft) && SUBMITS)} />
      )}
      <Thumbs pictures={draft.pictures} />
      <MessageBox text={draft.text} onSend={() => void send()} onFiles={take} />
      <div class="row spread">
        <AddPictures seesPictures={seesPictures} onFiles={take} />
        {isBusy ? (
          <Button icon="square" onClick={() => stop(id)}>
            Stop
          </Button>
        ) : (
          <Button
            type="submit"
            tone="primary"
            icon="send"
            disabled={isEmpty(draft)}
            busy={job.isBusy}
          >
            {isAsync ? 'Submit the job' : 'Send'}
          </Button>
        )}
      </div>
    </form>
  );
}

function jobOf(draft: Prompt): ApiRequest {
  const { settings, models } = chat.value;
  const { system } = settings;
  const messages = messagesOf(pathOf(chat.value), draft, { side: 0, system });
  return chatRequest(models[0], messages, { settings, isStreamed: false });
}

interface MessageBoxProps {
  readonly text: string;
  readonly onSend: () => void;
  readonly onFiles: (files: readonly File[]) => void;
}

function MessageBox({ text, onSend, onFiles }: MessageBoxProps) {
  return (
    <textarea
      class="input"
      rows={3}
      aria-label="Message"
      placeholder="Ask something. Enter sends, Shift and Enter begin a new line."
      value={text}
      onInput={({ currentTarget }) =>
        changeChat({ draft: { ...chat.value.draft, text: currentTarget.value } })
      }
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        onSend();
      }}
      onPaste={(event) => {
        const files = [...(event.clipboardData?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        onFiles(files);
      }}
    />
  );
}

// The pictures of the message that is being written.

function Thumbs({ pictures }: { readonly pictures: readonly Picture[] }) {
  if (pictures.length === 0) return null;
  return (
    <ul class="thumbs" aria-label="Pictures">
      {pictures.map(({ name, url }, index) => (
        <li key={`${index} ${name}`}>
          {url === '' ? (
            <span class="small soft">{name} was not kept</span>
          ) : (
            <img src={url} alt={name} />
          )}
          <IconButton icon="x" label={`Remove ${name}`} onClick={() => removePicture(index)} />
        </li>
      ))}
    </ul>
  );
}

interface AddPicturesProps {
  readonly seesPictures: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

function AddPictures({ seesPictures, onFiles }: AddPicturesProps) {
  const input = useRef<HTMLInputElement>(null);
  if (!seesPictures) return <span class="small soft">This model reads text only.</span>;
  return (
    <>
      <Button small icon="paperclip" onClick={() => input.current?.click()}>
        Add pictures
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={PICTURE_TYPES.join(',')}
        aria-label="Pictures"
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
    </>
  );
}

async function addPictures(files: readonly File[], seesPictures: boolean): Promise<void> {
  if (files.length === 0) return;
  if (!seesPictures) {
    toast('This model reads text only. Choose one that reads pictures.', 'bad');
    return;
  }
  try {
    const room = MAX_PICTURES - chat.value.draft.pictures.length;
    const added = await readPictures(files, room);
    const { draft } = chat.value;
    const pictures = [...draft.pictures, ...added].slice(0, MAX_PICTURES);
    changeChat({ draft: { ...draft, pictures } });
  } catch (thrown) {
    toastFault(thrown);
  }
}

function removePicture(index: number): void {
  const { draft } = chat.value;
  changeChat({ draft: { ...draft, pictures: draft.pictures.toSpliced(index, 1) } });
}

// The limits of pictures in a message.
const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

/** Per picture: a request may have 32 MiB, and base64 turns three bytes into four. */
const MAX_BYTES = 8 * 1024 * 1024;

const MAX_PICTURES = 4;

/** Throws a `Fault` that says which of them cannot be sent. */
async function readPictures(files: readonly File[], room: number): Promise<Picture[]> {
  if (files.length > room)
    throw problem(`A message takes ${MAX_PICTURES} pictures. Leave some out.`);
  for (const { name, type, size } of files) {
    if (!PICTURE_TYPES.includes(type)) {
      throw problem(`${name} is not a picture that models can read. Take PNG, JPEG, WebP or GIF.`);
    }
    if (size > MAX_BYTES) {
      const limit = formatBytes(MAX_BYTES);
      throw problem(`${name} has ${formatBytes(size)}; ${limit} are allowed. Make it smaller.`);
    }
  }
  return Promise.all(files.map(async (file) => ({ name: file.name, url: await dataUrl(file) })));
}

function problem(message: string): Fault {
  return new Fault(message, { code: 'page' });
}
