/** The name of a job or a file, by which its owner finds it again. */
import { Thumb } from './thumb.js';
import type { ThumbFile } from './thumb.js';
import './work.css';

/** As the API has it. Texts of callers and models: shown as text alone. */
export interface Work {
  readonly excerpt?: string | null | undefined;
  readonly custom_id?: string | null | undefined;
  readonly batch_label?: string | null | undefined;
  readonly model?: string | undefined;
}

/** Its excerpt, else what its batch calls it, else its model. */
export function workName(work: Work): string {
  return ownNameOf(work) ?? work.model ?? '';
}

function ownNameOf({ excerpt, custom_id: customId, batch_label: label }: Work): string | null {
  return excerpt ?? customId ?? label ?? null;
}

interface WorkNameProps {
  readonly work: Work;
  /** The page of the work; absent: it has none. */
  readonly href?: string | undefined;
  readonly file?: ThumbFile | null;
  /** Its batch is named beside it already. */
  readonly isInBatch?: boolean;
}

/** The name, which may be long and in any script, and below it the model and its other names. */
export function WorkName({ work, href, file = null, isInBatch = false }: WorkNameProps) {
  const name = workName(work);
  const { model = '', custom_id: customId, batch_label: label } = work;
  const known = new Set([customId, isInBatch ? null : label]);
  const others = [...known].filter((other) => other && other !== name);
  return (
    <span class="work">
      {file !== null && <Thumb file={file} name={name} />}
      <span class="work-text">
        <Line text={name} isModel={ownNameOf(work) === null} href={href} />
        {name !== model && (
          <span class="work-model small soft" title={[model, ...others].join(', ')}>
            <span class="mono">{model}</span>
            {others.map((other) => (
              <bdi key={other}>, {other}</bdi>
            ))}
          </span>
        )}
      </span>
    </span>
  );
}

interface LineProps {
  readonly text: string;
  readonly isModel: boolean;
  readonly href: string | undefined;
}

function Line({ text, isModel, href }: LineProps) {
  const shown = {
    class: isModel ? 'work-name mono' : 'work-name',
    dir: 'auto',
    title: text,
  } as const;
  if (href === undefined) return <span {...shown}>{text}</span>;
  return (
    <a {...shown} href={href}>
      {text}
    </a>
  );
}
