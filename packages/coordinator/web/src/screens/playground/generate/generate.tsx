/** Music and video: two tabs that differ in their fields and in how a result is played. */
import { useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import type { Cell } from '../../../api/cell.js';
import { asFault, Fault } from '../../../api/fault.js';
import { Button, LinkButton } from '../../../ui/button/button.js';
import { toastFault } from '../../../ui/dialog/toasts.js';
import { Field, TextField } from '../../../ui/form/field.js';
import { Empty } from '../../../ui/table/states.js';
import { formatBytes } from '../../../ui/text/format.js';
import { asJob } from '../call.js';
import type { ApiRequest } from '../call.js';
import { CodeButton } from '../code-drawer.js';
import { FileDrop, dataUrl } from '../file-drop.js';
import { pathOf } from '../image/image-state.js';
import { SOURCE_TYPES } from '../image/mask-file.js';
import { change, keptCell } from '../kept-cell.js';
import { ModelPicker, WithModels } from '../model-picker.js';
import { useFirstModel, useModelFromAddress, useModels } from '../models.js';
import type { TryableModel } from '../models.js';
import { AsyncSwitch, useJobAct } from '../run-as-job.js';
import { RunFoot } from '../run-button.js';
import { RunFactsRow } from '../run-facts-row.js';
import { shownOf } from '../run-facts.js';
import type { RunFacts } from '../run-facts.js';
import { IDLE, timedRun } from '../timed-run.js';
import type { RunState } from '../timed-run.js';
import { MUSIC, VIDEO, generationBody } from './generation.js';
import type { GenerationKind } from './generation.js';

interface State {
  readonly model: string;
  /** As typed, by the names of the request's fields. */
  readonly values: Readonly<Record<string, string>>;
  /** The first picture of a video. */
  readonly image: { readonly name: string; readonly url: string } | null;
  readonly isAsync: boolean;
  readonly run: RunState;
  readonly results: readonly Result[];
}

interface Result {
  readonly id: number;
  readonly prompt: string;
  readonly model: string;
  /** Paths on this origin. */
  readonly paths: readonly string[];
  readonly facts: RunFacts;
}

/** Older results are in the library. */
const MAX_RESULTS = 20;

/** A request may have 32 MiB, and base64 turns three bytes into four. */
const MAX_PICTURE_BYTES = 8 * 1024 * 1024;

const EMPTY: State = {
  model: '',
  values: {},
  image: null,
  isAsync: false,
  run: IDLE,
  results: [],
};

const music = keptCell(() => EMPTY);
const video = keptCell(() => EMPTY);

export function Music() {
  return <Generate kind={MUSIC} state={music} />;
}

export function Video() {
  return <Generate kind={VIDEO} state={video} />;
}

interface PartProps {
  readonly kind: GenerationKind;
  readonly state: Cell<State>;
}

function Generate({ kind, state }: PartProps) {
  const models = useModels(kind.type);
  const choose = (model: string): void => change(state, { model });
  useFirstModel(models, useCell(state).model, choose);
  useModelFromAddress(choose);
  return (
    <WithModels models={models} what={kind.what}>
      {(list) => (
        <div class="play halves">
          <GenerateForm kind={kind} state={state} list={list} />
          <Results kind={kind} state={state} />
        </div>
      )}
    </WithModels>
  );
}

interface FormProps extends PartProps {
  readonly list: readonly TryableModel[];
}

function GenerateForm({ kind, state, list }: FormProps) {
  const { model, values, isAsync, run } = useCell(state);
  const job = useJobAct();
  const fault = job.fault === null ? run.fault : shownOf(job.fault);
  const set = (name: string, value: string): void =>
    change(state, { values: { ...state.value.values, [name]: value } });
  return (
    <form
      class="form card"
      aria-label={kind.title}
      onSubmit={(event) => {
        event.preventDefault();
        if (isAsync) void job.run(requestOf(kind, state.value));
        else if (run.running === null) void generate({ kind, state });
      }}
    >
      <div class="row spread">
        <h2>{kind.title}</h2>
        <CodeButton request={() => shownRequest({ kind, state })} />
      </div>
      <ModelPicker models={list} value={model} onValue={(next) => change(state, { model: next })} />
      {kind.takesPicture && <FirstPicture state={state} />}
      {kind.texts.map(({ name, label, placeholder, rows }) => (
        <Field key={name} label={label}>
          {(ids) => (
            <textarea
              class="input"
              rows={rows}
              {...ids}
              placeholder={placeholder}
              value={values[name] ?? ''}
              onInput={({ currentTarget }) => set(name, currentTarget.value)}
            />
          )}
        </Field>
      ))}
      <div class="play-numbers">
        {kind.numbers.map(({ name, ...field }) => (
          <TextField
            key={name}
            {...field}
            type="number"
            inputMode="decimal"
            placeholder="automatic"
            value={values[name] ?? ''}
            onValue={(next) => set(name, next)}
          />
        ))}
      </div>
      <AsyncSwitch checked={isAsync} onChecked={(on) => change(state, { isAsync: on })} />
      <RunFoot
        running={run.running}
        fault={fault}
        icon={kind.icon}
        verb={isAsync ? 'Submit the job' : 'Generate'}
        disabled={(values['prompt'] ?? '').trim() === ''}
        busy={job.isBusy}
      />
    </form>
  );
}

function FirstPicture({ state }: Pick<PartProps, 'state'>) {
  const { image } = useCell(state);
  const [isOpening, setOpening] = useState(false);
  const take = async (file: File): Promise<void> => {
    setOpening(true);
    try {
      change(state, { image: await checkedPicture(file) });
    } catch (thrown) {
      toastFault(thrown);
    } finally {
      setOpening(false);
    }
  };
  if (image !== null) {
    return (
      <div class="row spread">
        <span class="small soft">Begins with {image.name}.</span>
        <Button small icon="x" onClick={() => change(state, { image: null })}>
          Without a picture
        </Button>
      </div>
    );
  }
  return (
    <FileDrop
      icon="image"
      verb={isOpening ? 'Opening…' : 'Choose a first picture'}
      hint="Optional: the video begins with this PNG, JPEG or WebP."
      accept={SOURCE_TYPES.join(',')}
      onFile={(file) => void take(file)}
    />
  );
}

async function checkedPicture(file: File) {
  const { name, type, size } = file;
  if (!SOURCE_TYPES.includes(type)) {
    throw new Fault(`${name} is not a picture that models can read. Take PNG, JPEG or WebP.`);
  }
  if (size > MAX_PICTURE_BYTES) {
    const most = formatBytes(MAX_PICTURE_BYTES);
    throw new Fault(`${name} has ${formatBytes(size)}; ${most} are allowed. Make it smaller.`);
  }
  return { name, url: await dataUrl(file) };
}

function requestOf(kind: GenerationKind, { model, values, image }: State): ApiRequest {
  const picture = kind.takesPicture && image !== null ? image.url : null;
  return { endpoint: kind.endpoint, body: generationBody(kind, { model, values, picture }) };
}

function shownRequest({ kind, state }: PartProps): ApiRequest {
  const request = requestOf(kind, state.value);
  return state.value.isAsync ? asJob(request) : request;
}

interface GenerationAnswer {
  readonly data: readonly { readonly url: string }[];
}

async function generate({ kind, state }: PartProps): Promise<void> {
  const { model, values } = state.value;
  try {
    const answered = await timedRun(
      requestOf(kind, state.value),
      async (response) => (await response.json()) as GenerationAnswer,
      (run) => change(state, { run }),
    );
    if (answered === null) return;
    const { results } = state.value;
    const id = (results[0]?.id ?? 0) + 1;
    const paths = answered.result.data.map(({ url }) => pathOf(url));
    const result = { id, prompt: values['prompt'] ?? '', model, paths, facts: answered.facts };
    change(state, { results: [result, ...results].slice(0, MAX_RESULTS) });
  } catch (thrown) {
    change(state, { run: { running: null, fault: shownOf(asFault(thrown)) } });
  }
}

function Results({ kind, state }: PartProps) {
  const { results, run } = useCell(state);
  if (results.length === 0 && run.running === null) {
    const text = 'It appears here, and is kept in your library.';
    return <Empty icon={kind.icon} title={kind.empty} text={text} />;
  }
  return (
    <section class="stack" aria-label="Results" aria-busy={run.running !== null}>
      {run.running !== null && <p class="skeleton row" role="status" aria-label="Under way" />}
      {results.map(({ id, prompt, model, paths, facts }) => (
        <article key={id} class="card stack" aria-label={prompt}>
          <p class="plain-text clamped">
            {prompt} <span class="soft mono small">{model}</span>
          </p>
          {paths.map((path) => (
            <Player key={path} path={path} isVideo={kind === VIDEO} label={prompt} />
          ))}
          <RunFactsRow facts={facts} first="Ready" />
        </article>
      ))}
    </section>
  );
}

interface PlayerProps {
  readonly path: string;
  readonly isVideo: boolean;
  readonly label: string;
}

function Player({ path, isVideo, label }: PlayerProps) {
  const Kind = isVideo ? 'video' : 'audio';
  return (
    <>
      <Kind controls preload="metadata" src={path} aria-label={label} />
      <div>
        <LinkButton small icon="download" href={path} download="">
          Download
        </LinkButton>
      </div>
    </>
  );
}
