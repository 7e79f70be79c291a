import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { Fault } from '../../../api/fault.js';
import { Button } from '../../../ui/button/button.js';
import { Menu, MenuItem } from '../../../ui/button/menu.js';
import { toast, toastFault } from '../../../ui/dialog/toasts.js';
import { toastUndo } from '../../../ui/dialog/undo.js';
import { useToastedAct } from '../../../ui/form/act.js';
import { TextField } from '../../../ui/form/field.js';
import { FormDialog } from '../../../ui/form/form-dialog.js';
import { useSettled } from '../../../ui/form/query.js';
import { formatBytes, plural } from '../../../ui/text/format.js';
import { saveText } from '../../../ui/text/save-text.js';
import { Ago } from '../../../ui/text/time.js';
import type { Head } from './chat-db.js';
import { MAX_CHATS, MAX_FILE_BYTES, readChats, writeChats } from './chat-file.js';
import { stop } from './chat-runs.js';
import {
  addChats,
  chat,
  chatsToExport,
  deleteChat,
  heads,
  openChat,
  renameChat,
  searchChats,
} from './chat-state.js';
import { useWide } from './settings.js';
import './chat-list.css';

/** The chats that this browser keeps, the newest first. */
export function ChatList() {
  const isWide = useWide();
  const kept = useCell(heads);
  const [words, setWords] = useState('');
  const found = useFound(words.trim(), kept?.length ?? 0);
  const listed = (kept ?? []).filter(({ id }) => found === null || found.includes(id));
  return (
    <details class="play-settings" open={isWide}>
      <summary>Chats{kept !== null && kept.length > 0 ? ` (${kept.length})` : ''}</summary>
      <div class="stack">
        {kept !== null && kept.length > 0 && (
          <TextField
            label="Search chats"
            type="search"
            placeholder="Title or text"
            value={words}
            onValue={setWords}
          />
        )}
        {listed.length > 0 && (
          <ul class="chats" aria-label="Chats">
            {listed.map((head) => (
              <ChatRow key={head.id} head={head} />
            ))}
          </ul>
        )}
        {listed.length === 0 && (
          <p class="small soft">
            {found === null ? 'None yet. What you write is kept here.' : 'No chat has these words.'}
          </p>
        )}
        <Files count={kept?.length ?? 0} />
        <p class="small soft">
          Only this browser keeps them, up to {MAX_CHATS} chats of 16 MiB each and pictures up to 3
          MiB; nothing is on the server.
        </p>
      </div>
    </details>
  );
}

/** The ids of the chats with these words; null without words. */
function useFound(words: string, count: number): readonly string[] | null {
  const settled = useSettled(words);
  const [found, setFound] = useState<readonly string[] | null>(null);
  useEffect(() => {
    let isWanted = true;
    if (settled === '') setFound(null);
    else {
      searchChats(settled).then(
        (ids) => isWanted && setFound(ids),
        () => isWanted && setFound([]),
      );
    }
    return () => {
      isWanted = false;
    };
  }, [settled, count]);
  return settled === '' ? null : found;
}

function ChatRow({ head }: { readonly head: Head }) {
  const { id, title, updatedAt } = head;
  const isShown = useCell(chat).id === id;
  const [isRenamed, setRenamed] = useState(false);
  const open = useToastedAct(() => openChat(id));
  const exported = useToastedAct(() => exportChats(id));
  const remove = useToastedAct(async () => {
    stop(id);
    const undo = await deleteChat(id);
    toastUndo(`“${title}” was deleted.`, () => void undo().catch(toastFault));
  });
  return (
    <li>
      <button
        type="button"
        class="chat-row"
        {...(isShown && { 'aria-current': 'true' as const })}
        onClick={() => void open.run()}
      >
        <span>{title}</span>
        <span class="small soft">
          <Ago at={updatedAt} />
        </span>
      </button>
      <Menu label={`Actions for ${title}`}>
        <MenuItem onClick={() => setRenamed(true)}>Rename…</MenuItem>
        <MenuItem onClick={() => void exported.run()}>Export</MenuItem>
        <MenuItem onClick={() => void remove.run()}>Delete</MenuItem>
      </Menu>
      {isRenamed && <Rename head={head} onClose={() => setRenamed(false)} />}
    </li>
  );
}

const MAX_TITLE_CHARACTERS = 60;

function Rename({ head, onClose }: { readonly head: Head; readonly onClose: () => void }) {
  const [title, setTitle] = useState(head.title);
  return (
    <FormDialog
      title="Rename the chat"
      verb="Rename"
      action={() => renameChat(head.id, title.trim())}
      onClose={onClose}
    >
      <TextField
        label="Title"
        hint="Empty: the beginning of the first message."
        maxLength={MAX_TITLE_CHARACTERS}
        autofocus
        value={title}
        onValue={setTitle}
      />
    </FormDialog>
  );
}

/** Export of all chats, and import. */
function Files({ count }: { readonly count: number }) {
  const input = useRef<HTMLInputElement>(null);
  const exported = useToastedAct(() => exportChats(null));
  const imported = useToastedAct(importChats);
  return (
    <div class="row">
      <Button
        small
        icon="download"
        disabled={count === 0}
        busy={exported.isBusy}
        onClick={() => void exported.run()}
      >
        Export all
      </Button>
      <Button small icon="upload" busy={imported.isBusy} onClick={() => input.current?.click()}>
        Import
      </Button>
      <input
        ref={input}
        type="file"
        hidden
        accept=".json,application/json"
        aria-label="File of chats"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? [];
          if (file !== undefined) void imported.run(file);
          currentTarget.value = '';
        }}
      />
    </div>
  );
}

async function exportChats(id: string | null): Promise<void> {
  const text = writeChats(await chatsToExport(id));
  saveText(id === null ? 'chats.json' : 'chat.json', 'application/json', text);
}

async function importChats(file: File): Promise<void> {
  if (file.size > MAX_FILE_BYTES) {
    const most = formatBytes(MAX_FILE_BYTES);
    throw new Fault(
      `${file.name} has ${formatBytes(file.size)}; ${most} are allowed. Export fewer chats.`,
    );
  }
  const chats = readChats(await file.text(), SYSTEM_CLOCK.now());
  const room = MAX_CHATS - (heads.value?.length ?? 0);
  if (chats.length > room) {
    throw new Fault(`${file.name} has ${plural(chats.length, 'chat')}; there is room for ${room}.`);
  }
  await addChats(chats);
  toast(`${plural(chats.length, 'chat')} imported.`);
}
