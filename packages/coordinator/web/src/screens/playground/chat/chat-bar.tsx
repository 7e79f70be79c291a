import type { ComponentChildren } from 'preact';
import { useCell } from '../../../api/cell.js';
import { Button } from '../../../ui/button/button.js';
import { asJob } from '../call.js';
import type { ApiRequest } from '../call.js';
import { CodeButton } from '../code-drawer.js';
import { AsyncSwitch } from '../run-as-job.js';
import { chatRequest } from './chat-request.js';
import { newChat } from './chat-runs.js';
import { changeChat, chat } from './chat-state.js';
import { before, isEmpty, messagesOf } from './conversation.js';
import type { Prompt } from './conversation.js';

export function ChatBar({ pickers }: { readonly pickers: ComponentChildren }) {
  const { isCompared, isAsync, turns } = useCell(chat);
  return (
    <div class="play-bar">
      <div class="play-pickers">{pickers}</div>
      <div class="row">
        {!isCompared && (
          <AsyncSwitch checked={isAsync} onChecked={(on) => changeChat({ isAsync: on })} />
        )}
        <Button
          small
          icon="columns-2"
          aria-pressed={isCompared}
          onClick={() => changeChat({ isCompared: !isCompared, isAsync: false })}
        >
          Compare two
        </Button>
        <CodeButton request={shownRequest} />
        <Button small icon="plus" disabled={turns.length === 0} onClick={newChat}>
          New chat
        </Button>
      </div>
    </div>
  );
}

/** The request for the typed text; without one, the last request. */
function shownRequest(): ApiRequest {
  const { draft, turns, isAsync } = chat.value;
  const last = turns.at(-1);
  if (!isEmpty(draft)) return draftRequest(draft, { isAsync });
  if (last === undefined) return draftRequest({ text: 'Hello', pictures: [] }, { isAsync });
  return requestAfter(before(turns, last.id), last.prompt, isAsync);
}

/** The request that would be sent to the first model now. */
export function draftRequest(
  draft: Prompt,
  { isAsync }: { readonly isAsync: boolean },
): ApiRequest {
  return requestAfter(chat.value.turns, draft, isAsync);
}

function requestAfter(
  turns: Parameters<typeof messagesOf>[0],
  prompt: Prompt,
  isAsync: boolean,
): ApiRequest {
  const { settings, models } = chat.value;
  const messages = messagesOf(turns, prompt, { side: 0, system: settings.system });
  const request = chatRequest(models[0], messages, { settings, isStreamed: !isAsync });
  return isAsync ? asJob(request) : request;
}
