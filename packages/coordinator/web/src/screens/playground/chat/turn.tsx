import { useState } from 'preact/hooks';
import { Button } from '../../../ui/button/button.js';
import { IconButton } from '../../../ui/button/icon-button.js';
import { AnswerView } from './answer.js';
import { sayInstead } from './chat-runs.js';
import { SIDES } from './conversation.js';
import type { Turn } from './conversation.js';

/** What was asked, and the answer or answers to it. */
export function TurnView({ turn }: { readonly turn: Turn }) {
  const { id, prompt, answers } = turn;
  const [isEdited, setEdited] = useState(false);
  return (
    <article class="turn" aria-label={`Turn ${id}`}>
      {isEdited ? (
        <EditPrompt turn={turn} onClose={() => setEdited(false)} />
      ) : (
        <div class="prompt">
          {prompt.pictures.length > 0 && (
            <p class="thumbs">
              {prompt.pictures.map(({ name, url }, index) => (
                <img key={index} src={url} alt={name} />
              ))}
            </p>
          )}
          <p class="plain">{prompt.text}</p>
          <IconButton icon="pencil" label="Edit and resend" onClick={() => setEdited(true)} />
        </div>
      )}
      <div class="answers">
        {SIDES.map((side) => {
          const answer = answers[side];
          return answer && <AnswerView key={side} answer={answer} id={id} side={side} />;
        })}
      </div>
    </article>
  );
}

function EditPrompt({ turn, onClose }: { readonly turn: Turn; readonly onClose: () => void }) {
  const [text, setText] = useState(turn.prompt.text);
  const send = (): void => {
    onClose();
    sayInstead(turn.id, { ...turn.prompt, text });
  };
  return (
    <form
      class="stack"
      aria-label="Edit the message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        class="input"
        rows={3}
        aria-label="Edited message"
        autofocus
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && onClose()}
      />
      <div class="row">
        <Button type="submit" tone="primary" small disabled={text.trim() === ''}>
          Send again
        </Button>
        <Button small onClick={onClose}>
          Cancel
        </Button>
        <span class="small soft">What followed is forgotten.</span>
      </div>
    </form>
  );
}
