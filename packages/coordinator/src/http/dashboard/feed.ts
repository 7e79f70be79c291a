/** `GET /api/feed?token=gwe_…`: a member's Atom feed (RFC 4287), opened by its own token. */
import { ApiError } from '@inference-gateway/shared/errors';
import { isSecret } from '@inference-gateway/shared/ids';
import { hashSecret } from '@inference-gateway/shared/program/secret';
import type Router from '@koa/router';
import { feedEvents, FEED_PATH } from '../../operations/my/feed.js';
import type { FeedEvent, FeedSources } from '../../operations/my/feed.js';
import type { Store } from '../../store/port.js';
import { AddressLimit } from '../edge/address-limit.js';
import type { RequestState } from '../edge/context.js';
import { queryText } from '../edge/read-query.js';

/** Per address and minute: readers ask a few times an hour. */
const MAX_READS = 30;

export interface FeedParts extends FeedSources {
  readonly store: FeedSources['store'] & Pick<Store, 'findFeedOwner' | 'feedMadeAt'>;
  /** The origin of the links; called late: the port is known once the server listens. */
  readonly publicUrl: () => string;
}

export function feedRoutes(router: Router<RequestState>, parts: FeedParts): void {
  const limit = new AddressLimit(MAX_READS);
  router.get(FEED_PATH, async (ctx) => {
    limit.take(ctx.state.ip);
    const token = queryText(ctx, 'token') ?? '';
    const member = isSecret('gwe', token)
      ? await parts.store.findFeedOwner(hashSecret(token))
      : null;
    if (member === null) throw noFeed();
    const now = ctx.state.now();
    const [events, madeAt] = await Promise.all([
      feedEvents(parts, member, now),
      parts.store.feedMadeAt(member.id),
    ]);
    ctx.set('Cache-Control', 'private, no-cache');
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Content-Type', 'application/atom+xml; charset=utf-8');
    ctx.body = writeFeed({
      events,
      memberId: member.id,
      origin: parts.publicUrl(),
      madeAt: madeAt ?? now,
    });
  });
}

/** Says the same of a token that is not whole, was revoked, or never existed. */
function noFeed(): ApiError {
  const message =
    'There is no feed with this token. Make another in the dashboard: Settings, Notifications.';
  return new ApiError('not_found', message, { param: 'token' });
}

interface Feed {
  readonly events: readonly FeedEvent[];
  readonly memberId: string;
  readonly origin: string;
  /** Unix ms of its token. */
  readonly madeAt: number;
}

export function writeFeed({ events, memberId, origin, madeAt }: Feed): string {
  const id = (own: string): string => `urn:inference-gateway:${memberId}:${own}`;
  const updated = iso(events[0]?.at ?? madeAt);
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>${escaped(id('feed'))}</id>`,
    '<title>Inference Gateway</title>',
    '<author><name>Inference Gateway</name></author>',
    `<updated>${updated}</updated>`,
    `<link href="${escaped(origin)}/"/>`,
    ...events.map(({ id: own, title, text, at, path }) =>
      [
        '<entry>',
        `<id>${escaped(id(own))}</id>`,
        `<title>${escaped(title)}</title>`,
        `<updated>${iso(at)}</updated>`,
        `<link href="${escaped(origin + path)}"/>`,
        `<content>${escaped(text)}</content>`,
        '</entry>',
      ].join(''),
    ),
    '</feed>',
    '',
  ].join('\n');
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Characters that XML 1.0 does not have, even escaped. */
// oxlint-disable-next-line no-control-regex
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

function escaped(text: string): string {
  return text
    .replaceAll(NOT_XML, '')
    .replaceAll(/\p{Surrogate}/gu, '\ufffd')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}
