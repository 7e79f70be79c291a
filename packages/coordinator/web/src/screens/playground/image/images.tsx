import { useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { asFault, Fault } from '../../../api/fault.js';
import { Field, Segments, SelectField, TextField } from '../../../ui/form/field.js';
import { Button } from '../../../ui/button/button.js';
import { formatBytes } from '../../../ui/text/format.js';
import { toastFault } from '../../../ui/dialog/toasts.js';
import { CodeButton } from '../code-drawer.js';
import { shownOf } from '../run-facts.js';
import { ModelPicker, WithModels } from '../model-picker.js';
import { useFirstModel, useModelFromAddress, useModels } from '../models.js';
import type { TryableModel } from '../models.js';
import { RunFoot } from '../run-button.js';
import { AsyncSwitch, useJobAct } from '../run-as-job.js';
import { FileDrop, MAX_UPLOAD_BYTES } from '../file-drop.js';
import {
  changeImages,
  editRequest,
  generationRequest,
  images,
  makeImages,
  setSource,
} from './image-state.js';
import type { Images as State } from './image-state.js';
import { Results } from './results.js';
import { shownRequest } from './shown-request.js';
import { MaskBoard } from './mask-board.js';
import { SOURCE_TYPES, openSource } from './mask-file.js';

const MODES = [
  { value: 'generate', label: 'Generate' },
  { value: 'edit', label: 'Edit' },
] as const;

const SIZES = ['', '512x512', '768x768', '1024x1024', '1024x768', '768x1024', '1536x1024'].map(
  (size) => ({ value: size, label: size === '' ? 'Automatic' : size.replace('x', ' × ') }),
);

export function Images() {
  const models = useModels('image');
  useFirstModel(models, useCell(images).model, choose);
  useModelFromAddress(choose);
  return (
    <WithModels models={models} what="pictures">
      {(list) => (
        <div class="play halves">
          <ImageForm list={list} />
          <Results />
        </div>
      )}
    </WithModels>
  );
}

function choose(model: string): void {
  changeImages({ model });
}

function ImageForm({ list }: { readonly list: readonly TryableModel[] }) {
  const state = useCell(images);
  const { mode, model, isAsync, run } = state;
  const job = useJobAct();
  const isJob = isAsync && mode === 'generate';
  const fault = job.fault === null ? run.fault : shownOf(job.fault);
  return (
    <form
      class="form card"
      aria-label="Picture"
      onSubmit={(event) => {
        event.preventDefault();
        if (isJob) void job.run(generationRequest(images.value));
        else void make();
      }}
    >
      <div class="row spread">
        <Segments
          label="What to do"
          value={mode}
          options={MODES}
          onValue={(next) => changeImages({ mode: next })}
        />
        <CodeButton request={() => shownRequest(images.value)} />
      </div>
      <ModelPicker models={list} value={model} onValue={choose} />
      {mode === 'edit' && <EditSource />}
      <ImageFields state={state} />
      {mode === 'generate' && (
        <AsyncSwitch checked={isAsync} onChecked={(on) => changeImages({ isAsync: on })} />
      )}
      <RunFoot
        running={run.running}
        fault={fault}
        icon="image"
        verb={isJob ? 'Submit the job' : mode === 'edit' ? 'Edit' : 'Generate'}
        disabled={!isReady(state)}
        busy={job.isBusy}
      />
    </form>
  );
}

function ImageFields({ state }: { readonly state: State }) {
  const { mode, prompt, size, count } = state;
  return (
    <>
      <Field label={mode === 'edit' ? 'What to change' : 'Prompt'}>
        {(ids) => (
          <textarea
            class="input"
            rows={4}
            {...ids}
            value={prompt}
            placeholder="A lighthouse in the fog, oil on canvas"
            onInput={({ currentTarget }) => changeImages({ prompt: currentTarget.value })}
          />
        )}
      </Field>
      <div class="play-numbers">
        <SelectField
          label="Size"
          value={size}
          options={SIZES}
          onValue={(next) => changeImages({ size: next })}
        />
        <TextField
          label="How many"
          type="number"
          inputMode="numeric"
          min={1}
          max={4}
          step={1}
          value={count}
          onValue={(next) => changeImages({ count: next })}
        />
      </div>
    </>
  );
}

function isReady({ mode, prompt, source }: State): boolean {
  return prompt.trim() !== '' && (mode === 'generate' || source !== null);
}

async function make(): Promise<void> {
  const { mode, source, run } = images.value;
  if (run.running !== null) return;
  try {
    const isEdit = mode === 'edit' && source !== null;
    const request = isEdit
      ? await editRequest(images.value, source)
      : generationRequest(images.value);
    await makeImages(request);
  } catch (thrown) {
    changeImages({ run: { running: null, fault: shownOf(asFault(thrown)) } });
  }
}

/** The picture to edit, and the mask. */
function EditSource() {
  const { source } = useCell(images);
  const [isOpening, setOpening] = useState(false);
  const take = async (file: File): Promise<void> => {
    setOpening(true);
    try {
      setSource(await checked(file));
    } catch (thrown) {
      toastFault(thrown);
    } finally {
      setOpening(false);
    }
  };
  if (source === null) {
    return (
      <FileDrop
        icon="image"
        verb={isOpening ? 'Opening…' : 'Choose a picture'}
        hint="Drop a PNG, JPEG or WebP here, or take one of the results."
        accept={SOURCE_TYPES.join(',')}
        onFile={(file) => void take(file)}
      />
    );
  }
  return (
    <div class="stack">
      <div class="row spread">
        <span class="small soft">
          {source.name}, {source.width} × {source.height}
        </span>
        <Button small icon="x" onClick={() => setSource(null)}>
          Another picture
        </Button>
      </div>
      <MaskBoard key={source.url} source={source} />
    </div>
  );
}

async function checked(file: File) {
  if (file.size > MAX_UPLOAD_BYTES) {
    const most = formatBytes(MAX_UPLOAD_BYTES);
    throw new Fault(
      `${file.name} has ${formatBytes(file.size)}; ${most} are allowed. Make it smaller.`,
    );
  }
  return openSource(file, file.name);
}
