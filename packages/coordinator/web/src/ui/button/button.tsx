import type { ComponentChildren, JSX } from 'preact';
import { classOf } from './button-class.js';
import type { Tone } from './button-class.js';
import { Icon } from './icon.js';
import './button.css';

interface ButtonProps extends Omit<JSX.IntrinsicElements['button'], 'icon' | 'size'> {
  readonly tone?: Tone;
  readonly icon?: string;
  readonly small?: boolean;
  /** While its action runs: the button is disabled. */
  readonly busy?: boolean;
  readonly children: ComponentChildren;
}

export function Button(props: ButtonProps) {
  const { tone = 'plain', icon, small = false, busy = false, children, ...rest } = props;
  return (
    <button type="button" {...rest} class={classOf(tone, small)} disabled={busy || rest.disabled}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface LinkButtonProps {
  readonly href: string;
  readonly tone?: Tone;
  readonly icon?: string;
  readonly small?: boolean;
  /** The file name under which the target is saved, instead of opened. */
  readonly download?: string;
  readonly children: ComponentChildren;
}

/** A link that looks like a button. */
export function LinkButton(props: LinkButtonProps) {
  const { href, tone = 'plain', icon, small = false, download, children } = props;
  return (
    <a href={href} class={classOf(tone, small)} {...(download !== undefined && { download })}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </a>
  );
}
