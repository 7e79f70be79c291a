import { useCell } from '../../../api/cell.js';
import { request } from '../../../api/request.js';
import { useToastedAct } from '../../../ui/form/act.js';
import { Button, LinkButton } from '../../../ui/button/button.js';
import { Empty } from '../../../ui/table/states.js';
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
  return (
    <article class="card stack" aria-label={prompt}>
      <p>
        {prompt} <span class="soft mono small">{model}</span>
      </p>
      <div class="pictures">
        {paths.map((path, index) => (
          <ResultPicture key={path} path={path} name={`${prompt} (${index + 1})`} />
        ))}
      </div>
      <RunFactsRow facts={facts} />
    </article>
  );
}

function ResultPicture({ path, name }: { readonly path: string; readonly name: string }) {
  const act = useToastedAct(async () => {
    const picture = await (await request(path)).blob();
    setSource(await openSource(picture, `picture.${picture.type.split('/')[1] ?? 'png'}`));
  });
  return (
    <figure class="stack tight">
      <img src={path} alt={name} />
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
