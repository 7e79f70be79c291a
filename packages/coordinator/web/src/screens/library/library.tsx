import { useState } from 'preact/hooks';
import { usePages } from '../../api/pages.js';
import { Segments } from '../../ui/form/field.js';
import { LinkButton } from '../../ui/button/button.js';
import { Loaded } from '../../ui/table/loaded.js';
import { LoadMore } from '../../ui/table/load-more.js';
import { kindOf } from '../../ui/markdown/media.js';
import type { MediaKind } from '../../ui/markdown/media.js';
import { Page } from '../../ui/page.js';
import { useQuery } from '../../ui/form/query.js';
import { Empty, NoMatch } from '../../ui/table/states.js';
import { ASSETS } from './asset.js';
import type { Asset } from './asset.js';
import { AssetCard } from './asset-card.js';
import { DeleteBar } from './delete-bar.js';
import './library.css';

const PAGE_FILES = 60;
/** New files come from jobs, which the page is told of; from plain calls it is not. */
const EVERY_MS = 10_000;

const KINDS = [
  { value: '', label: 'All' },
  { value: 'picture', label: 'Pictures' },
  { value: 'sound', label: 'Sounds' },
  { value: 'film', label: 'Films' },
] as const;

/** What the member's calls have made, for as long as it is kept. */
export function Library() {
  const [written, setKind] = useQuery('kind');
  const kind = KINDS.find(({ value }) => value === written)?.value ?? '';
  const url = `${ASSETS}?limit=${PAGE_FILES}`;
  const pages = usePages<Asset>(url, { everyMs: EVERY_MS, topics: ['jobs'] });
  return (
    <Page title="Library" staleSince={pages.staleSince}>
      <div class="library-bar">
        <Segments label="Kind" value={kind} options={KINDS} onValue={setKind} />
      </div>
      <Loaded of={pages} loading={<LoadingFiles />}>
        {(loaded) => (
          <Files kind={kind} loaded={loaded} pages={pages} onClear={() => setKind('')} />
        )}
      </Loaded>
    </Page>
  );
}

interface FilesProps {
  readonly kind: MediaKind | '';
  readonly loaded: readonly Asset[];
  readonly pages: ReturnType<typeof usePages<Asset>>;
  readonly onClear: () => void;
}

function Files({ kind, loaded, pages, onClear }: FilesProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  // What was deleted may still be on a page that was loaded before.
  const files = loaded.filter(({ id }) => !gone.has(id));
  if (files.length === 0 && !pages.hasMore) return <NoFiles />;
  const shown = files.filter((file) => kind === '' || kindOf(file) === kind);
  const picked = shown.filter(({ id }) => chosen.has(id));
  const onGone = async (ids: readonly string[]): Promise<void> => {
    setGone(new Set([...gone, ...ids]));
    await pages.refresh();
  };
  return (
    <>
      {picked.length > 0 && <DeleteBar files={picked} onChoose={setChosen} onGone={onGone} />}
      {shown.length === 0 ? (
        <NoMatch what={pages.hasMore ? 'files loaded so far' : 'files'} onClear={onClear} />
      ) : (
        <ul class="library">
          {shown.map((file) => (
            <AssetCard
              key={file.id}
              file={file}
              isChosen={chosen.has(file.id)}
              onChoose={() => setChosen(toggled(chosen, file.id))}
              onGone={onGone}
            />
          ))}
        </ul>
      )}
      {(shown.length > 0 || pages.hasMore) && <LoadMore pages={pages} what="file" />}
    </>
  );
}

function toggled(chosen: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(chosen);
  if (!next.delete(id)) next.add(id);
  return next;
}

function LoadingFiles() {
  return (
    <div class="library" role="status" aria-label="Loading">
      {Array.from({ length: 8 }, (_, index) => (
        <span key={index} class="skeleton asset-skeleton" />
      ))}
    </div>
  );
}

function NoFiles() {
  return (
    <Empty
      icon="images"
      title="Nothing made yet."
      text="Pictures, speech, music and films that your calls make are kept here until they expire."
    >
      <LinkButton href="/playground/image">Make a picture</LinkButton>
    </Empty>
  );
}
