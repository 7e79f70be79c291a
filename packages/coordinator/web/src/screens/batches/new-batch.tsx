import { useState } from 'preact/hooks';
import { BATCHES } from '../../api/jobs.js';
import type { Batch } from '../../api/jobs.js';
import { postJson } from '../../api/request.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { Field, TextField } from '../../ui/form/field.js';
import { formatBytes, plural } from '../../ui/text/format.js';
import { FaultText } from '../../ui/table/states.js';
import { toast } from '../../ui/dialog/toasts.js';
import { MAX_ITEMS, lineOf, readBatchLines } from './batch-lines.js';
import type { ReadLines } from './batch-lines.js';

/** Enough for 256 requests of 128 KiB on average, while the page stays responsive. */
const MAX_FILE_BYTES = 32 * 1024 * 1024;

const TOO_LARGE = `The file is larger than ${formatBytes(MAX_FILE_BYTES)}. Split it.`;

const PLACEHOLDER =
  '{"endpoint": "/v1/chat/completions", "body": {"model": "MODEL", ' +
  '"messages": [{"role": "user", "content": "Say hello."}]}}';
const HINT = `1 to ${MAX_ITEMS} lines: {endpoint, body}, or those of an OpenAI batch file.`;

interface NewBatchProps {
  readonly onClose: () => void;
  readonly onMade: (batch: Batch) => void;
}

export function NewBatch({ onClose, onMade }: NewBatchProps) {
  const [text, setText] = useState('');
  const [label, setLabel] = useState('');
  const read = readBatchLines(text);
  const submit = useAct(async () => {
    if (read.kind === 'wrong') return;
    const named = label.trim() === '' ? {} : { label: label.trim() };
    const batch = await postJson<Batch>(BATCHES, { requests: read.items, ...named });
    toast(`${plural(batch.total, 'job')} queued.`);
    onClose();
    onMade(batch);
  });
  const line = read.kind === 'read' ? lineOf(submit.fault?.param ?? null, read.lineNumbers) : null;
  return (
    <Dialog title="New batch" shape="wide" onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit.run();
        }}
      >
        <Lines text={text} read={read} onText={setText} />
        <TextField
          label="Label"
          hint="Optional. It names the batch in the list."
          maxLength={256}
          value={label}
          onValue={setLabel}
        />
        {line !== null && <p class="bad">Line {line} was refused; nothing was queued.</p>}
        <FaultText fault={submit.fault} />
        <div class="dialog-foot">
          <Button onClick={onClose}>Close</Button>
          <Button
            type="submit"
            tone="primary"
            busy={submit.isBusy}
            disabled={read.kind === 'wrong'}
          >
            {read.kind === 'read' ? `Queue ${plural(read.items.length, 'job')}` : 'Queue'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface LinesProps {
  readonly text: string;
  readonly read: ReadLines;
  readonly onText: (text: string) => void;
}

function Lines({ text, read, onText }: LinesProps) {
  const wrong = text.trim() !== '' && read.kind === 'wrong' ? read.message : null;
  return (
    <>
      <Field label="Requests" hint={HINT} wrong={wrong}>
        {(ids) => (
          <textarea
            {...ids}
            class="input batch-lines"
            spellcheck={false}
            placeholder={PLACEHOLDER}
            value={text}
            onInput={({ currentTarget }) => onText(currentTarget.value)}
          />
        )}
      </Field>
      <FileField onText={onText} />
      {read.kind === 'read' && (
        <p class="small soft">
          {plural(read.items.length, 'request')} read.
          {read.hasCustomIds && ' A custom_id is not kept: results carry the index of their line.'}
        </p>
      )}
    </>
  );
}

function FileField({ onText }: Pick<LinesProps, 'onText'>) {
  const choose = async (input: HTMLInputElement): Promise<void> => {
    const file = input.files?.[0];
    if (file === undefined) return;
    if (file.size > MAX_FILE_BYTES) toast(TOO_LARGE, 'bad');
    else onText(await file.text());
    input.value = '';
  };
  return (
    <Field label="Or from a file" hint="A .jsonl file. It is read here, and shown above.">
      {(ids) => (
        <input
          {...ids}
          class="input"
          type="file"
          accept=".jsonl,.ndjson,.json,.txt"
          onChange={({ currentTarget }) => void choose(currentTarget)}
        />
      )}
    </Field>
  );
}
