import { LinkButton } from '../../../ui/button/button.js';
import { RunFactsRow } from '../run-facts-row.js';
import type { Spoken } from './speech-state.js';

export function SpokenView({ spoken }: { readonly spoken: Spoken }) {
  const { text, voice, url, fileName, facts } = spoken;
  return (
    <article class="card stack" aria-label={text}>
      <p class="plain clamped">
        {text} {voice !== '' && <span class="soft mono small">{voice}</span>}
      </p>
      <audio controls src={url} aria-label="What was spoken" />
      <div>
        <LinkButton small icon="download" href={url} download={fileName}>
          Download
        </LinkButton>
      </div>
      <RunFactsRow facts={facts} />
    </article>
  );
}
