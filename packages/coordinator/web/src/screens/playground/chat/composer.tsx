import { useCell } from '../../../api/cell.js';
import { Button } from '../../../ui/button/button.js';
import { FaultNote } from '../fault-note.js';
import { shownOf } from '../shown-fault.js';
import { useJobAct } from '../run-as-job.js';
import { useDrop } from '../use-drop.js';
import { draftRequest } from './chat-bar.js';
import { say, stopAll } from './chat-runs.js';
import { changeChat, chat } from './chat-state.js';
import { NO_PROMPT, isEmpty } from './conversation.js';
import { AddPictures, Thumbs, addPictures } from './draft-pictures.js';
import './composer.css';

/** Where the next message is written. */
export function Composer({ seesPictures }: { readonly seesPictures: boolean }) {
  const { draft, turns, isAsync } = useCell(chat);
  const job = useJobAct();
  const isRunning = turns.some(({ answers }) => answers.some((one) => one?.state === 'running'));
  const send = async (): Promise<void> => {
    if (isEmpty(draft) || isRunning || job.isBusy) return;
    if (!isAsync) {
      changeChat({ draft: NO_PROMPT });
      say(draft);
    } else if (await job.run(draftRequest(draft, { isAsync: false }))) {
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
      {job.fault !== null && <FaultNote fault={shownOf(job.fault)} />}
      <Thumbs pictures={draft.pictures} />
      <MessageBox text={draft.text} onSend={() => void send()} onFiles={take} />
      <div class="row spread">
        <AddPictures seesPictures={seesPictures} onFiles={take} />
        {isRunning ? (
          <Button icon="square" onClick={stopAll}>
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
