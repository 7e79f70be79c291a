import { useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { request } from '../../../api/request.js';
import { useToastedAct } from '../../../ui/form/act.js';
import { Button, LinkButton } from '../../../ui/button/button.js';
import { Empty } from '../../../ui/table/states.js';
import { Lightbox, ShotButton } from '../lightbox.js';
import type { Shot } from '../lightbox.js';
import { RunFactsRow } from '../run-facts-row.js';
import { images, setSource } from './image-state.js';
import type { ImageResult } from './image-state.js';
import { openSource } from './mask-file.js';
import './results.css';

/** The results of this tab, the newest first. */
export function Results() {
  const { results, run } = useCell(images);
  if (results.length === 0 && run.running === null) {
    return (
      <Empty
        icon="images"
        title="No pictures yet."
        text="They appear here, and are kept in your library."
      />
    );
  }
  return (
    <section class="stack" aria-label="Pictures" aria-busy={run.running !== null}>
      {run.running !== null && <p class="skeleton picture" role="status" aria-label="Under way" />}
      {results.map((result) => (
        <Result key={result.id} result={result} />
      ))}
    </section>
  );
}

function Result({ result }: { readonly result: ImageResult }) {
  const { paths, prompt, model, facts } = result;
  const [open, setOpen] = useState<number | null>(null);
  const shots = paths.map((src, index) => ({ src, alt: `${prompt} (${index + 1})`, fileName: '' }));
  return (
    <article class="card stack" aria-label={prompt}>
      <p>
        {prompt} <span class="soft mono small">{model}</span>
      </p>
      <div class="pictures">
        {shots.map((shot, index) => (
          <ResultPicture key={shot.src} shot={shot} onOpen={() => setOpen(index)} />
        ))}
      </div>
      {open !== null && <Lightbox shots={shots} first={open} onClose={() => setOpen(null)} />}
      <RunFactsRow facts={facts} />
    </article>
  );
}

interface ResultPictureProps {
  readonly shot: Shot;
  readonly onOpen: () => void;
}

function ResultPicture({ shot, onOpen }: ResultPictureProps) {
  const path = shot.src;
  const act = useToastedAct(async () => {
    const picture = await (await request(path)).blob();
    setSource(await openSource(picture, `picture.${picture.type.split('/')[1] ?? 'png'}`));
  });
  return (
    <figure class="stack tight">
      <ShotButton shot={shot} onOpen={onOpen} />
      <figcaption class="row">
        <LinkButton small icon="download" href={path} download="">
          Download
        </LinkButton>
        <Button small icon="brush" busy={act.isBusy} onClick={() => void act.run()}>
          Edit this
        </Button>
      </figcaption>
    </figure>
  );
}
