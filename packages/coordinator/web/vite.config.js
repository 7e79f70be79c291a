import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { writeSprite } from './icons.js';

const web = dirname(fileURLToPath(import.meta.url));
// Written before each build, so that the build names it by its content, like every other file.
writeSprite(join(web, 'generated', 'icons.svg'));

const TEXT = /\.(html|js|css|svg)$/;
/** Smaller files do not gain from compression. */
const MIN_BYTES = 600;

/**
 * Writes a Brotli and a gzip form of each text file: the coordinator compresses nothing at request
 * time. It reads the written files, because the names of other files are filled in only there.
 */
const compressed = {
  name: 'compressed',
  /** @param {{ dir?: string }} options @param {object} bundle */
  writeBundle({ dir = '' }, bundle) {
    for (const name of Object.keys(bundle).filter((one) => TEXT.test(one))) {
      const file = join(dir, name);
      const source = readFileSync(file);
      if (source.length < MIN_BYTES) continue;
      const params = { [constants.BROTLI_PARAM_QUALITY]: 11 };
      writeFileSync(`${file}.br`, brotliCompressSync(source, { params }));
      writeFileSync(`${file}.gz`, gzipSync(source, { level: 9 }));
    }
  },
};

/** So that the page can be installed as an app. The name of its icon depends on the content. */
const manifest = {
  name: 'manifest',
  generateBundle(_options, bundle) {
    const mark = Object.values(bundle).find(({ originalFileNames = [] }) =>
      originalFileNames.some((name) => name.endsWith('style/mark.svg')),
    );
    if (mark === undefined) this.error('style/mark.svg is not in the build');
    const source = JSON.stringify({
      name: 'Inference Gateway',
      short_name: 'Gateway',
      id: '/',
      start_url: '/',
      display: 'standalone',
      background_color: '#0d0f13',
      theme_color: '#3d5afe',
      icons: [{ src: `/${mark.fileName}`, sizes: 'any', type: 'image/svg+xml', purpose: 'any' }],
      shortcuts: [
        { name: 'Playground', url: '/playground' },
        { name: 'Queue', url: '/queue' },
      ],
    });
    this.emitFile({ type: 'asset', fileName: 'manifest.webmanifest', source });
  },
};

/** In `src/shell/screens.tsx`: the file of each screen by its name there, and its address. */
const SCREEN = /const (\w+) = screen\(\(\) =>\s+import\('(.+?)\.js'\)/g;
const ROUTE = /<Route path="(.+?)" component=\{(\w+)\} \/>/g;

/**
 * Writes `screens.json`: for the address of each screen, the frame's and its own scripts and
 * styles. The coordinator names them to the browser with the page, which otherwise would learn of
 * each only from the one before: seven round trips until the first figure instead of three.
 */
const screens = {
  name: 'screens',
  // After Vite has removed the scripts that only stood for styles.
  enforce: /** @type {const} */ ('post'),
  /** @param {object} _options @param {Record<string, any>} bundle */
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter(({ type }) => type === 'chunk');
    /** @param {string} module A file of `src`, without its ending. */
    const filesOf = (module) => {
      const path = join(web, 'src', module);
      const first = chunks.find(({ moduleIds }) =>
        moduleIds.some((/** @type {string} */ id) => id === `${path}.tsx` || id === `${path}.ts`),
      );
      if (first === undefined) return this.error(`${module} is not in the build`);
      const files = new Set([first.fileName]);
      for (const name of files) for (const one of bundle[name].imports) files.add(one);
      const styles = [...files].flatMap((name) => [...bundle[name].viteMetadata.importedCss]);
      return [...files, ...styles].map((name) => `/${name}`);
    };
    const source = readFileSync(join(web, 'src', 'shell', 'screens.tsx'), 'utf8');
    const modules = new Map([...source.matchAll(SCREEN)].map(([, name, path]) => [name, path]));
    const first = filesOf('main');
    const routes = [...source.matchAll(ROUTE)].map(([, path, name]) => {
      const files = [
        ...filesOf('shell/frame'),
        ...filesOf(join('shell', modules.get(name) ?? name)),
      ];
      return [path, [...new Set(files)].filter((one) => !first.includes(one))];
    });
    this.emitFile({
      type: 'asset',
      fileName: 'screens.json',
      source: JSON.stringify(Object.fromEntries(routes)),
    });
  },
};

const OLD_FONTS = /,url\([^)]+\) format\("(?:woff|truetype)"\)/g;

/** KaTeX names each font in three formats, and every browser that runs this page reads WOFF2. */
const woff2Only = {
  name: 'woff2-only',
  enforce: /** @type {const} */ ('pre'),
  /** @param {string} code @param {string} id */
  transform(code, id) {
    return id.endsWith('katex.min.css') ? code.replaceAll(OLD_FONTS, '') : null;
  },
};

/** The modules of `src/api` and `src/ui` that the frame needs before any screen. */
const FRAME_API = 'cell|fault|live|session';
const FRAME_UI = 'button/button-class|button/icon|button/icon-button|dialog/toasts';

/** Parts that only some screens need. */
const NOT_EVERYWHERE = 'markdown/|snippets/|work/|table/job-columns';

/**
 * Two files for all screens: the modules of the frame, and the small parts that nearly every screen
 * uses, which would otherwise be twenty files.
 */
const groups = [
  {
    name: 'frame',
    priority: 2,
    test: new RegExp(`node_modules/preact|web/src/(api/(${FRAME_API})|ui/(${FRAME_UI}))\\.`),
  },
  {
    name: 'parts',
    priority: 1,
    test: new RegExp(`web/src/(api|ui/(?!${NOT_EVERYWHERE})|style/(layout|text))`),
  },
];

export default defineConfig({
  root: web,
  // The page is served from the root of the coordinator's origin.
  base: '/',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [manifest, screens, compressed, woff2Only],
  build: {
    outDir: join(web, '..', 'dist', 'web'),
    emptyOutDir: true,
    target: 'es2022',
    // The page's Content-Security-Policy allows `data:` only for pictures.
    assetsInlineLimit: 0,
    // The frame lists only the styles that a screen imports: the names of all scripts would be a
    // tenth of the frame.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_file, names, { hostType }) =>
        hostType === 'html' ? names : names.filter((name) => name.endsWith('.css')),
    },
    rolldownOptions: { output: { codeSplitting: { groups } } },
    reportCompressedSize: false,
  },
});
