import { useLocation, useRoute } from 'preact-iso';
import { Page } from '../../ui/page.js';
import { Tabs } from '../../ui/button/tabs.js';
import { Empty } from '../../ui/table/states.js';
import { LinkButton } from '../../ui/button/button.js';
import { Chat } from './chat/chat.js';
import { Images } from './image/images.js';
import './playground.css';
import { RateMeter } from './rate-meter.js';
import { Speech } from './speech/speech.js';
import { Transcribe } from './transcribe/transcribe.js';

const KINDS = {
  chat: { text: 'Chat', part: Chat },
  image: { text: 'Image', part: Images },
  speech: { text: 'Speech', part: Speech },
  transcribe: { text: 'Transcribe', part: Transcribe },
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

/** The screen's own address shows the first of them. */
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
