import type { JobDetail } from '../../api/jobs.js';
import { LinkButton } from '../../ui/button/button.js';
import { Code } from '../../ui/text/code.js';
import { CopyButton } from '../../ui/button/copy.js';
import { formatBytes, formatCount } from '../../ui/text/format.js';
import { Icon } from '../../ui/button/icon.js';
import { Waveform } from '../../ui/work/waveform.js';
import { Markdown } from '../../ui/markdown/markdown.js';
import { Media, addressOf, kindOf } from '../../ui/markdown/media.js';

export function JobResult({ job }: { readonly job: JobDetail }) {
  if (job.status !== 'PROCESSED') return null;
  if (job.result === undefined && job.assets.length === 0) return <Gone />;
  return (
    <section class="card">
      <h2>Result</h2>
      {job.assets.length > 0 && <Files job={job} />}
      {job.result !== undefined && <TextResult result={job.result} />}
    </section>
  );
}

function Gone() {
  return (
    <section class="card">
      <h2>Result</h2>
      <p class="soft">
        Its files have been deleted or have expired. Submit the request again to make new ones.
      </p>
    </section>
  );
}

function Files({ job }: { readonly job: JobDetail }) {
  return (
    <div class="job-files">
      {job.assets.map((file, index) => (
        <figure key={file.id} class="stack tight">
          {kindOf(file) === 'sound' && (
            <span class="job-wave">
              <Waveform id={file.id} label={`The wave of result ${index + 1}`}>
                <Icon name="audio-lines" />
              </Waveform>
            </span>
          )}
          <Media file={file} label={`Result ${index + 1}, a ${kindOf(file)} by ${job.model}`} />
          <figcaption class="row small soft">
            {file.content_type}, {formatBytes(file.bytes)}
            <LinkButton small icon="download" href={addressOf(file)} download={file.id}>
              Download
            </LinkButton>
          </figcaption>
        </figure>
      ))}
    </div>
  );
}

/** The model's text, and below it the whole answer. */
function TextResult({ result }: { readonly result: unknown }) {
  const answers = answersOf(result);
  const usage = usageOf(result);
  const json = JSON.stringify(result, null, 2);
  return (
    <div class="stack">
      {answers.map((answer, index) => (
        <article key={index} class="stack">
          {answer.reasoning !== null && (
            <details>
              <summary>Reasoning</summary>
              <Markdown text={answer.reasoning} />
            </details>
          )}
          <Markdown text={answer.text} />
          <div>
            <CopyButton text={answer.text} label="Copy the text" />
          </div>
        </article>
      ))}
      {usage !== null && (
        <p class="small soft">
          {formatCount(usage.prompt)} tokens read, {formatCount(usage.completion)} written
        </p>
      )}
      <details {...(answers.length === 0 && { open: true })}>
        <summary>The whole answer as JSON</summary>
        <div class="job-body">
          <Code text={json} label="Copy the answer" />
        </div>
      </details>
    </div>
  );
}

// Reads the result of a text job. The owner's model server has written it, so nothing in it is
// trusted.

interface Answer {
  readonly text: string;
  readonly reasoning: string | null;
}

/** Texts of a chat or a legacy completion; empty for others. */
function answersOf(result: unknown): readonly Answer[] {
  const choices = fieldOf(result, 'choices');
  if (!Array.isArray(choices)) return [];
  return choices.flatMap((choice: unknown) => answerOf(choice) ?? []);
}

function answerOf(choice: unknown): Answer | null {
  const message = fieldOf(choice, 'message');
  const text = textOf(fieldOf(message, 'content')) ?? textOf(fieldOf(choice, 'text'));
  const reasoning = textOf(fieldOf(message, 'reasoning_content'));
  return text === null && reasoning === null ? null : { text: text ?? '', reasoning };
}

function usageOf(result: unknown): { readonly prompt: number; readonly completion: number } | null {
  const usage = fieldOf(result, 'usage');
  const prompt = fieldOf(usage, 'prompt_tokens');
  const completion = fieldOf(usage, 'completion_tokens');
  return typeof prompt === 'number' && typeof completion === 'number'
    ? { prompt, completion }
    : null;
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !(name in value)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
