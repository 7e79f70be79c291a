import type { ComponentChildren } from 'preact';
import { capitalized } from '../text/format.js';
import { statusLabel } from '../text/labels.js';
import type { Mood } from './mood.js';
import './badge.css';

interface BadgeProps {
  readonly mood?: Mood;
  /** For a state: a coloured dot before the text, which begins with a capital. */
  readonly dot?: boolean;
  readonly title?: string;
  readonly children: ComponentChildren;
}

export function Badge({ mood = 'plain', dot = false, title, children }: BadgeProps) {
  const isState = dot && typeof children === 'string';
  return (
    <span class={`badge ${mood}${dot ? ' dot' : ''}`} {...(title !== undefined && { title })}>
      {isState ? capitalized(children) : children}
    </span>
  );
}

const MOODS: Readonly<Record<string, Mood>> = {
  QUEUED: 'plain',
  PENDING: 'plain',
  PROCESSING: 'accent',
  PROCESSED: 'good',
  DONE: 'good',
  FAILED: 'bad',
  CANCELED: 'warn',
  // Of batches that are read from a file.
  IN_PROGRESS: 'accent',
  FINALIZING: 'accent',
  COMPLETED: 'good',
  EXPIRED: 'warn',
  CANCELLING: 'warn',
  CANCELLED: 'warn',
};

/** The status of a job or a batch; the API's own word is in its title. */
export function StatusBadge({ status }: { readonly status: string }) {
  return (
    <Badge dot mood={MOODS[status] ?? 'plain'} title={`${status} in the API`}>
      {statusLabel(status)}
    </Badge>
  );
}

/** For a provider or a share. */
export function OnlineBadge({ online }: { readonly online: boolean }) {
  return (
    <Badge dot mood={online ? 'good' : 'plain'}>
      {online ? 'online' : 'offline'}
    </Badge>
  );
}
