import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { useLocation, useRoute } from 'preact-iso';
import { useEffect } from 'preact/hooks';
import { Page } from '../../ui/page.js';
import { Tabs } from '../../ui/button/tabs.js';
import { Empty } from '../../ui/table/states.js';
import { LinkButton } from '../../ui/button/button.js';
import { useCell } from '../../api/cell.js';
import { formatAgo, formatCount } from '../../ui/text/format.js';
import { Meter } from '../../ui/figures/meter.js';
import { Chat } from './chat/chat.js';
import { Music, Video } from './generate/generate.js';
import { Images } from './image/images.js';
import { read } from './call.js';
import { rate } from './rate.js';
import './playground.css';
import { Speech } from './speech/speech.js';
import { Voice } from './speech/voice.js';
import { Transcribe } from './transcribe/transcribe.js';

const KINDS = {
  chat: { text: 'Chat', part: Chat },
  image: { text: 'Image', part: Images },
  speech: { text: 'Speech', part: Speech },
  transcribe: { text: 'Transcribe', part: Transcribe },
  voice: { text: 'Voice', part: Voice },
  music: { text: 'Music', part: Music },
  video: { text: 'Video', part: Video },
} as const;

type Kind = keyof typeof KINDS;

const KIND_NAMES = Object.keys(KINDS) as readonly Kind[];

export function Playground() {
  const { params } = useRoute();
  const { path } = useLocation();
  const kind = KIND_NAMES.find((name) => name === (params['kind'] ?? 'chat'));
  const tabs = KIND_NAMES.map((name) => ({ href: hrefOf(name, path), text: KINDS[name].text }));
  const Part = kind === undefined ? NoSuchKind : KINDS[kind].part;
  return (
    <Page title="Playground" actions={<RateMeter />}>
      <Tabs label="What to try" tabs={tabs} />
      <Part />
    </Page>
  );
}

/** The address of the playground itself shows the first kind. */
function hrefOf(kind: Kind, path: string): string {
  return kind === 'chat' && path === '/playground' ? path : `/playground/${kind}`;
}

function NoSuchKind() {
  return (
    <Empty title="There is nothing to try at this address." text="Choose one of the kinds above.">
      <LinkButton href="/playground/chat">Chat</LinkButton>
    </Empty>
  );
}

/** Delay after `resetAt`, before the limit is requested again. */
const AFTER_RESET_MS = 250;

/** If all requests are left, `resetAt` is now, which must not cause continuous requests. */
const MIN_WAIT_MS = 2_000;

/** Below this share, the meter warns. */
const LOW_SHARE = 0.2;

/** How many requests are left, from the headers of the last answer. */
function RateMeter() {
  const current = useCell(rate);
  const isSpent = current !== null && current.remaining < current.limit;
  useEffect(() => {
    if (current !== null && !isSpent) return undefined;
    // Only the headers of an answer contain the limit; reading does not count against it.
    const waitMs = current === null ? 0 : current.resetAt - SYSTEM_CLOCK.now() + AFTER_RESET_MS;
    const look = (): void => void read('/models').catch(() => undefined);
    const timer = setTimeout(look, current === null ? 0 : Math.max(MIN_WAIT_MS, waitMs));
    return () => clearTimeout(timer);
  }, [current]);
  if (current === null) return <span class="rate-meter" aria-hidden="true" />;
  const { limit, remaining, resetAt } = current;
  const text = `${formatCount(remaining)} of ${formatCount(limit)} requests left`;
  const reset = isSpent ? `, more ${resetIn(resetAt)}` : '';
  return (
    <span class="rate-meter small soft">
      <span>
        {text}
        <span class="if-wide">{reset}</span>
      </span>
      <Meter
        value={remaining}
        max={limit}
        label={`Rate limit: ${text}${reset}`}
        mood={remaining < limit * LOW_SHARE ? 'warn' : 'accent'}
      />
    </span>
  );
}

function resetIn(resetAt: number): string {
  return formatAgo(Math.max(resetAt, SYSTEM_CLOCK.now()), SYSTEM_CLOCK.now());
}
