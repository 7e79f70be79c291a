import { currentSession } from '../../api/session.js';
import { Code } from '../../ui/text/code.js';
import { OnceDialog } from '../../ui/dialog/dialog.js';
import { KeySnippet } from './key-snippet.js';
import { KeyTest } from './key-test.js';
import type { WholeKey } from './keys.js';

interface ShownKeyProps {
  readonly title: string;
  readonly made: WholeKey;
  readonly onClose: () => void;
}

/** The whole key, this once, with everything that a first call needs. */
export function ShownKey({ title, made, onClose }: ShownKeyProps) {
  const { base_url: baseUrl } = currentSession().gateway;
  return (
    <OnceDialog title={title} what="the key" onClose={onClose}>
      <div class="stack shown-key">
        <p>Copy the key now. It is not shown again: the gateway keeps only its hash.</p>
        <div class="shown-facts">
          <span class="soft">Key</span>
          <Code inline text={made.key} label="Copy the key" />
          <span class="soft">Base URL</span>
          <Code inline text={baseUrl} label="Copy the base URL" />
        </div>
        <KeyTest secret={made.key} />
        <KeySnippet baseUrl={baseUrl} secret={made.key} scope={made.scope} />
      </div>
    </OnceDialog>
  );
}
