import { useState } from 'preact/hooks';
import { usePages } from '../../api/pages.js';
import { Segments, TextField } from '../../ui/form/field.js';
import { LinkButton, Button } from '../../ui/button/button.js';
import { Loaded } from '../../ui/table/loaded.js';
import { LoadMore } from '../../ui/table/load-more.js';
import { kindOf, Media, addressOf } from '../../ui/markdown/media.js';
import type { MediaKind } from '../../ui/markdown/media.js';
import { Page } from '../../ui/page.js';
import { useClearQuery, useQuery, useSettled } from '../../ui/form/query.js';
import { Empty, NoMatch } from '../../ui/table/states.js';
import { withEach } from '../../api/jobs.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { plural, formatBytes, formatMs } from '../../ui/text/format.js';
import { SelectionBar } from '../../ui/table/selection-bar.js';
import { toast } from '../../ui/dialog/toasts.js';
import { IconButton } from '../../ui/button/icon-button.js';
import { formatDate } from '../../ui/text/dates.js';
import { Icon } from '../../ui/button/icon.js';
import { Ago } from '../../ui/text/time.js';
import { Waveform } from '../../ui/work/waveform.js';
import { workName } from '../../ui/work/work-name.js';
import { ASSETS, deleteAsset, fileNameOf, kindName } from './asset.js';
import type { Asset } from './asset.js';
import './library.css';

const PAGE_FILES = 60;

/** Live signals announce files of jobs, but not those of synchronous calls. */
const EVERY_MS = 10_000;

/** The coordinator's limit for a searched text. */
const MAX_SEARCH_CHARACTERS = 100;

const KINDS = [
  { value: '', label: 'All' },
  { value: 'picture', label: 'Images' },
  { value: 'sound', label: 'Sounds' },
  { value: 'film', label: 'Videos' },
] as const;

/** The member's generated files, until they expire. */
export function Library() {
  const [written, setKind] = useQuery('kind');
  const kind = KINDS.find(({ value }) => value === written)?.value ?? '';
  const [search, setSearch] = useQuery('search');
  const searched = useSettled(search).trim();
  const asked = searched === '' ? '' : `&${new URLSearchParams({ search: searched })}`;
  const url = `${ASSETS}?limit=${PAGE_FILES}${asked}`;
  const clear = useClearQuery();
  const pages = usePages<Asset>(url, { everyMs: EVERY_MS, topics: ['jobs'] });
  return (
    <Page title="Library" staleSince={pages.staleSince}>
      <search class="library-bar">
        <TextField
          label="Search"
          type="search"
          placeholder="What you asked, a batch, a model"
          maxLength={MAX_SEARCH_CHARACTERS}
          value={search}
          onValue={setSearch}
        />
        <div class="library-kinds">
          <Segments label="Kind" value={kind} options={KINDS} onValue={setKind} />
        </div>
      </search>
      <Loaded of={pages} loading={<LoadingFiles />}>
        {(loaded) => (
          <Files
            key={url}
            kind={kind}
            isSearch={searched !== ''}
            loaded={loaded}
            pages={pages}
            onClear={clear}
          />
        )}
      </Loaded>
    </Page>
  );
}

interface FilesProps {
  readonly kind: MediaKind | '';
  /** Whether only some of the files are asked for. */
  readonly isSearch: boolean;
  readonly loaded: readonly Asset[];
  readonly pages: ReturnType<typeof usePages<Asset>>;
  readonly onClear: () => void;
}

function Files({ kind, isSearch, loaded, pages, onClear }: FilesProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  // A deleted file may still be in a page that was loaded before.
  const files = loaded.filter(({ id }) => !gone.has(id));
  if (files.length === 0 && !pages.hasMore && !isSearch) return <NoFiles />;
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
    <div class="library" role="status" aria-label="Loading" aria-busy="true">
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
      title="No files yet."
      text="Images, speech, music and videos that your calls make are kept here until they expire."
    >
      <LinkButton href="/playground/image">Make an image</LinkButton>
    </Empty>
  );
}

interface DeleteBarProps {
  /** The selected files. */
  readonly files: readonly Asset[];
  readonly onChoose: (chosen: ReadonlySet<string>) => void;
  readonly onGone: (ids: readonly string[]) => Promise<void>;
}

function DeleteBar({ files, onChoose, onGone }: DeleteBarProps) {
  const [isAsking, setAsking] = useState(false);
  const count = plural(files.length, 'file');
  const remove = async (): Promise<void> => {
    const ids = files.map(({ id }) => id);
    const { done, fault } = await withEach(ids, deleteAsset);
    await onGone(done);
    if (fault === null) toast(`Deleted ${plural(done.length, 'file')}.`);
    else toast(`Deleted ${done.length} of ${count}. ${fault.message}`, 'bad');
  };
  return (
    <SelectionBar what="files" count={count} onClear={() => onChoose(new Set())}>
      <Button small tone="danger" icon="trash" onClick={() => setAsking(true)}>
        Delete {count}
      </Button>
      {isAsking && (
        <Confirm
          title={`Delete ${count}?`}
          text="They are deleted for good: links to them stop working. Usage figures stay."
          verb={`Delete ${count}`}
          action={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </SelectionBar>
  );
}

interface AssetCardProps {
  readonly file: Asset;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly onGone: (ids: readonly string[]) => Promise<void>;
}

function AssetCard({ file, isChosen, onChoose, onGone }: AssetCardProps) {
  const [isAsking, setAsking] = useState(false);
  const kind = kindName(file);
  const name = workName({ ...file, model: kind });
  const label = `${kind}${name === kind ? '' : `, ${name},`} by ${file.model}, ${formatDate(
    file.created * 1_000,
  )}`;
  const remove = async (): Promise<void> => {
    await deleteAsset(file.id);
    await onGone([file.id]);
    toast('Deleted.');
  };
  return (
    <li class="asset">
      <Preview file={file} label={label} />
      <label class="check">
        <input
          type="checkbox"
          checked={isChosen}
          aria-label={`Select ${label}`}
          onChange={onChoose}
        />
        <strong class="asset-name" dir="auto" title={name}>
          {name}
        </strong>
      </label>
      <p class="small mono asset-model">{file.model}</p>
      <div class="asset-foot">
        <p class="small soft">
          <Ago at={file.created * 1_000} />, {sizeOf(file)}, expires{' '}
          <Ago at={file.expires_at * 1_000} />
        </p>
        <LinkButton
          small
          tone="quiet"
          icon="download"
          href={addressOf(file)}
          download={fileNameOf(file)}
        >
          <span class="unseen">Download {label}</span>
        </LinkButton>
        <IconButton icon="trash" label={`Delete ${label}`} onClick={() => setAsking(true)} />
      </div>
      {isAsking && (
        <Confirm
          title={`Delete this ${kind.toLowerCase()}?`}
          text="It is deleted for good: links to it stop working. Usage figures stay."
          verb="Delete it"
          action={remove}
          onClose={() => setAsking(false)}
        />
      )}
    </li>
  );
}

/** All previews have the same height, so that nothing moves when they have loaded. */
function Preview({ file, label }: { readonly file: Asset; readonly label: string }) {
  const kind = kindOf(file);
  if (kind === 'picture') {
    return (
      <a class="preview" href={addressOf(file)} target="_blank" rel="noreferrer">
        <Media file={file} label={label} lazy />
      </a>
    );
  }
  return (
    <div class="preview">
      {kind === 'sound' && (
        <span class="asset-wave">
          <Waveform id={file.id} label={`The wave of ${label}`}>
            <Icon name={file.endpoint.includes('music') ? 'music' : 'audio-lines'} />
          </Waveform>
        </span>
      )}
      <Media file={file} label={label} lazy />
    </div>
  );
}

function sizeOf({ bytes, seconds }: Asset): string {
  const size = formatBytes(bytes);
  return seconds === null ? size : `${formatMs(seconds * 1_000)}, ${size}`;
}
