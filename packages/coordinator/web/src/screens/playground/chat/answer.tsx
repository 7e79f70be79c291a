import { Badge } from '../../../ui/figures/badge.js';
import { IconButton } from '../../../ui/button/icon-button.js';
import { CopyIcon } from '../../../ui/button/copy.js';
import { Markdown } from '../../../ui/markdown/markdown.js';
import { FaultNote } from '../fault-note.js';
import { RunFactsRow } from '../run-facts-row.js';
import { regenerate } from './chat-runs.js';
import type { Answer, Side } from './conversation.js';

interface AnswerProps {
  readonly answer: Answer;
  readonly id: number;
  readonly side: Side;
}

export function AnswerView({ answer, id, side }: AnswerProps) {
  const { model, state, text, reasoning, finish, facts, fault } = answer;
  const isWaiting = state === 'running' && text === '' && reasoning === '';
  return (
    <section class="answer" aria-label={`Answer of ${model}`} aria-busy={state === 'running'}>
      <header class="row spread">
        <h2 class="mono">{model}</h2>
        <span class="row">
          {state === 'stopped' && <Badge mood="warn">stopped</Badge>}
          {finish === 'length' && <Badge mood="warn">cut at the token limit</Badge>}
          {text !== '' && <CopyIcon text={text} label="Copy the answer" />}
          {state !== 'running' && (
            <IconButton
              icon="refresh-cw"
              label="Regenerate"
              onClick={() => regenerate({ id, side })}
            />
          )}
        </span>
      </header>
      {reasoning !== '' && <Reasoning text={reasoning} isOver={text !== ''} />}
      {isWaiting && <p class="soft">Waiting for the first token…</p>}
      {text !== '' && <Markdown text={text} />}
      {fault !== null && <FaultNote fault={fault} />}
      {facts !== null && <RunFactsRow facts={facts} />}
    </section>
  );
}

function Reasoning({ text, isOver }: { readonly text: string; readonly isOver: boolean }) {
  return (
    <details class="reasoning small">
      <summary>{isOver ? 'Reasoning' : 'Reasoning…'}</summary>
      <p class="plain soft">{text}</p>
    </details>
  );
}
