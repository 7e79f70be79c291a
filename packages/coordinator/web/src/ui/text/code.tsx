import type { ComponentChildren } from 'preact';
import { CopyIcon } from '../button/copy.js';
import './code.css';

interface CodeProps {
  readonly text: string;
  /** What is copied: "Copy the command". */
  readonly label: string;
  /** One line, in less space. */
  readonly inline?: boolean;
  /** The same text with highlighting. */
  readonly children?: ComponentChildren;
}

/** Text to copy and paste. */
export function Code({ text, label, inline = false, children }: CodeProps) {
  return (
    <div class={`code${inline ? ' inline' : ''}`}>
      <pre tabIndex={0} aria-label={label.replace(/^Copy (the )?/, '')} role="group">
        <code>{children ?? text}</code>
      </pre>
      <CopyIcon text={text} label={label} />
    </div>
  );
}
