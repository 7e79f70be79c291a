import type { ComponentChildren } from 'preact';
import { Icon } from '../button/icon.js';
import './banner.css';

interface BannerProps {
  readonly mood?: 'accent' | 'warn' | 'bad';
  /** One sentence. */
  readonly text: string;
  /** The next step. */
  readonly children?: ComponentChildren;
}

/** A notice about the whole screen. */
export function Banner({ mood = 'accent', text, children }: BannerProps) {
  return (
    <div class={`banner ${mood}`} role="status">
      <Icon name={mood === 'accent' ? 'info' : 'triangle-alert'} />
      <p>{text}</p>
      {children}
    </div>
  );
}
