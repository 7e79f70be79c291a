import type { JSX } from 'preact';
import { classOf } from './button-class.js';
import type { Tone } from './button-class.js';
import { Icon } from './icon.js';

interface IconButtonProps extends Omit<JSX.IntrinsicElements['button'], 'icon' | 'label'> {
  readonly icon: string;
  /** Its accessible name and title. */
  readonly label: string;
  readonly tone?: Tone;
  readonly small?: boolean;
}

export function IconButton(props: IconButtonProps) {
  const { icon, label, tone = 'quiet', small = true, ...rest } = props;
  const name = `${classOf(tone, small)} only-icon`;
  return (
    <button type="button" {...rest} class={name} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}
