import type { MyResult } from '../../api/commands.js';
import { formatCount } from '../../ui/text/format.js';
import { Tile } from '../../ui/figures/tile.js';
import { Ago } from '../../ui/text/time.js';

type Tiles = MyResult<'home.show'>['tiles'];

/** Undefined while they load: their places are kept. */
export function HomeTiles({ tiles }: { readonly tiles: Tiles | undefined }) {
  const count = (pick: (tiles: Tiles) => number) => tiles && formatCount(pick(tiles));
  return (
    <div class="tiles">
      <Tile
        label="Running"
        figure={count(({ running }) => running)}
        note="jobs"
        href="/jobs?active=1"
      />
      <Tile
        label="Queued"
        figure={count(({ queued }) => queued)}
        note={tiles && <Oldest tiles={tiles} />}
        href="/queue"
      />
      <Tile
        label="My GPUs online"
        figure={tiles && `${tiles.providers_online}/${tiles.providers}`}
        note="providers"
        href="/providers"
      />
      <Tile
        label="Requests"
        figure={count((one) => one.requests_24h)}
        note="in 24 hours"
        href="/usage"
      />
      <Tile
        label="Errors"
        figure={tiles && <Errors count={tiles.errors_24h} />}
        note="in 24 hours"
        href="/usage"
      />
    </div>
  );
}

function Oldest({ tiles }: { readonly tiles: Tiles }) {
  const at = tiles.oldest_queued_at;
  if (at === null) return <>nothing waits</>;
  return (
    <>
      oldest <Ago at={at} />
    </>
  );
}

function Errors({ count }: { readonly count: number }) {
  return <span class={count > 0 ? 'bad' : ''}>{formatCount(count)}</span>;
}
