import { useState } from 'preact/hooks';
import { Button } from './button.js';
import { IconButton } from './icon-button.js';
import { toast } from '../dialog/toasts.js';
import './copy.css';

const SHOWN_MS = 1_500;

interface CopyProps {
  readonly text: string;
  /** What is copied: "Copy the id". */
  readonly label: string;
}

export function CopyIcon({ text, label }: CopyProps) {
  const [isCopied, copyIt] = useCopy(text);
  const icon = isCopied ? 'check' : 'copy';
  return (
    <IconButton icon={icon} label={isCopied ? 'Copied' : label} onClick={() => void copyIt()} />
  );
}

/** With a visible label. */
export function CopyButton({ text, label }: CopyProps) {
  const [isCopied, copyIt] = useCopy(text);
  return (
    <Button icon={isCopied ? 'check' : 'copy'} onClick={() => void copyIt()}>
      {isCopied ? 'Copied' : label}
    </Button>
  );
}

interface CopyTextProps extends CopyProps {
  /** The page about it. */
  readonly href?: string;
}

/** Text to paste elsewhere, in a monospaced font, with a copy button. */
export function CopyText({ text, label, href }: CopyTextProps) {
  return (
    <span class="copy-text">
      {href === undefined ? (
        <span class="mono" title={text}>
          {text}
        </span>
      ) : (
        <a class="mono" title={text} href={href}>
          {text}
        </a>
      )}
      <CopyIcon text={text} label={label} />
    </span>
  );
}

function useCopy(text: string): [boolean, () => Promise<void>] {
  const [isCopied, setCopied] = useState(false);
  const copyIt = async (): Promise<void> => {
    if (!(await copy(text))) {
      toast('The browser does not let this page copy. Select the text and copy it.', 'bad');
      return;
    }
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return [isCopied, copyIt];
}

/** Over plain HTTP to another machine, browsers offer no clipboard API, but still `execCommand`. */
async function copy(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const area = document.createElement('textarea');
  area.value = text;
  // While a dialog is open, only text inside it can be selected.
  const place = document.querySelector('dialog[open]') ?? document.body;
  place.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}
