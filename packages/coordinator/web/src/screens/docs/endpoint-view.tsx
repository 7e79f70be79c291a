import { useState } from 'preact/hooks';
import { Badge } from '../../ui/figures/badge.js';
import { Code } from '../../ui/text/code.js';
import { Icon } from '../../ui/button/icon.js';
import { FieldTable } from './field-table.js';
import { answersOf, parametersOf } from './open-api.js';
import type { Answer, Endpoint, OpenApiDocument, Operation } from './open-api.js';
import { Prose } from './prose.js';
import { boundsOf, fieldsOf, typeOf } from './schema-fields.js';

interface EndpointViewProps {
  readonly document: OpenApiDocument;
  readonly endpoint: Endpoint;
}

const MOODS = { get: 'good', post: 'accent', delete: 'bad' } as const;

export function EndpointView({ document, endpoint }: EndpointViewProps) {
  const { method, path, operation } = endpoint;
  const id = operation.operationId;
  const [isOpen, setOpen] = useState(location.hash === `#${id}`);
  return (
    <details id={id} open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Icon name="chevron-right" />
        <Badge mood={MOODS[method]}>{method.toUpperCase()}</Badge>
        <span class="mono">{path}</span>
        <span class="soft docs-summary">{operation.summary}</span>
      </summary>
      {isOpen && <Whole document={document} operation={operation} />}
    </details>
  );
}

interface WholeProps {
  readonly document: OpenApiDocument;
  readonly operation: Operation;
}

function Whole({ document, operation }: WholeProps) {
  const { description, security } = operation;
  const parameters = parametersOf(document, operation).map((one) => ({
    name: one.name,
    type: typeOf(document, one.schema),
    isRequired: one.required ?? false,
    notes: [`In the ${one.in}.`, one.description, ...boundsOf(one.schema)],
  }));
  const body = Object.entries(operation.requestBody?.content ?? {});
  return (
    <div class="docs-whole stack">
      {description !== undefined && (
        <p class="reading">
          <Prose text={description} />
        </p>
      )}
      <p class="soft small">{whoMay(security)}</p>
      {parameters.length > 0 && <FieldTable caption="Parameters" fields={parameters} />}
      {body.map(([type, { schema, examples }]) => (
        <div key={type} class="stack tight">
          <FieldTable caption={`Body: ${type}`} fields={fieldsOf(document, schema)} />
          <Sample value={examples?.['example']?.value} label="Copy the example" />
        </div>
      ))}
      <h3>Answers</h3>
      <dl class="docs-answers">
        {answersOf(document, operation).map(([status, answer]) => (
          <AnswerView key={status} document={document} status={status} answer={answer} />
        ))}
      </dl>
    </div>
  );
}

interface AnswerViewProps {
  readonly document: OpenApiDocument;
  readonly status: string;
  readonly answer: Answer;
}

/** Shows the fields of successful answers only; errors have the same form everywhere. */
function AnswerView({ document, status, answer }: AnswerViewProps) {
  const isGood = status.startsWith('2');
  const contents = isGood ? Object.entries(answer.content ?? {}) : [];
  return (
    <>
      <dt>
        <Badge mood={isGood ? 'good' : 'plain'}>{status}</Badge>
      </dt>
      <dd class="stack tight">
        <p>
          <Prose text={answer.description} />
        </p>
        {contents.map(([type, { schema, examples }]) => (
          <details key={type}>
            <summary class="small">Fields of {type}</summary>
            <div class="stack tight">
              <FieldTable caption={`Answer: ${type}`} fields={fieldsOf(document, schema)} />
              <Sample value={examples?.['example']?.value} label={`Copy the answer ${status}`} />
            </div>
          </details>
        ))}
      </dd>
    </>
  );
}

function Sample({ value, label }: { readonly value: unknown; readonly label: string }) {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return <Code text={text} label={label} />;
}

const WHO: Readonly<Record<string, string>> = {
  apiKey: 'an API key',
  session: 'the session of this page',
  joinToken: 'a join token',
  agentToken: 'an agent’s own token',
  metricsToken: 'the metrics token, where one is set',
};

function whoMay(security: Operation['security']): string {
  const ways = security.flatMap((one) => Object.keys(one)).map((name) => WHO[name] ?? name);
  return ways.length === 0 ? 'Needs no key.' : `Needs ${ways.join(' or ')}.`;
}
