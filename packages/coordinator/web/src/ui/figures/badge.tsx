import type { ComponentChildren } from 'preact';
import type { Mood } from './mood.js';
import './badge.css';

interface BadgeProps {
  readonly mood?: Mood;
  /** With a coloured dot before the text, as for a state. */
  readonly dot?: boolean;
  readonly title?: string;
  readonly children: ComponentChildren;
}

export function Badge({ mood = 'plain', dot = false, title, children }: BadgeProps) {
  return (
    <span class={`badge ${mood}${dot ? ' dot' : ''}`} {...(title !== undefined && { title })}>
      {children}
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

/** The status of a job or a batch, in the specification's own word. */
export function StatusBadge({ status }: { readonly status: string }) {
  return (
    <Badge dot mood={MOODS[status] ?? 'plain'}>
      {status.replace('_', ' ')}
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
