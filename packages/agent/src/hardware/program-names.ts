/** Programs that are recognised by name, in the forms that systems write it. */

/**
 * Model servers that are one program, and not a script whose interpreter other programs use, too.
 * `*` stands for the suffix of a version or a build.
 */
export const MODEL_SERVERS: readonly string[] = [
  'ollama',
  'llama-server',
  'ik_llama',
  'llama-swap',
  'lm studio',
  'lm-studio',
  'lms',
  'llmster',
  'koboldcpp*',
  'localai',
  'local-ai',
  'vllm',
  'sglang',
  'tabbyapi',
  'jan',
  'gpt4all',
  'lemonade*',
  'model-runner',
  'whisper-server',
  'sd-server',
];

/** Their worker processes, which only they connect to. */
export const MODEL_WORKERS: readonly string[] = [
  'ollama_llama_server',
  'llmworker',
  'vllm::enginecore',
  'vllm::worker',
];

/** Model servers in Python, by a word of their command line or their working folder. */
export const MODEL_SCRIPTS: readonly string[] = [
  'vllm',
  'sglang*',
  'mlx_lm*',
  'mlx_audio*',
  'mlx-omni-server',
  'text-generation-webui',
  'comfyui',
  'koboldcpp*',
  'tabbyapi',
  'stable-diffusion-webui*',
  'sd.next',
  'sdnext',
  'automatic',
  'kokoro*',
  'speaches*',
  'orpheus*',
  'chatterbox*',
  'openedai-speech',
  'ace-step*',
  'acestep*',
  'whisper-asr-webservice',
  'piper.http_server',
];

/** Programs that accept connections for a container, whose processes are not their children. */
export const CONTAINER_DOORS: readonly string[] = [
  'docker-proxy',
  'rootlessport',
  'slirp4netns',
  'pasta',
  'conmon',
];

/** Desktop programs hold memory of the card as long as a user is logged in. */
export const DESKTOP_PROGRAMS: readonly string[] = [
  'xorg',
  'x',
  'xwayland',
  'gnome-shell',
  'gnome-remote-desktop-daemon',
  'mutter',
  'kwin_wayland',
  'kwin_x11',
  'plasmashell',
  'cinnamon',
  'xfwm4',
  'compiz',
  'picom',
  'cosmic-comp',
  'sway',
  'hyprland',
  'weston',
  'gdm-wayland-session',
  'sddm-greeter',
  'xdg-desktop-portal-gnome',
  'windowserver',
  'dwm.exe',
  'explorer.exe',
  'csrss.exe',
  'searchhost.exe',
  'startmenuexperiencehost.exe',
  'shellexperiencehost.exe',
  'textinputhost.exe',
];

/** The kernel and `nvidia-smi pmon` cut names; of a command line only the program counts. */
const CUT_CHARACTERS = 14;

/** Recognises `/usr/bin/Xorg`, `C:\Windows\dwm.exe`, `chrome --type=g` and `sd-server-long`. */
export function isOneOf(names: readonly string[], program: string): boolean {
  return someFit(names, program, fitsCut);
}

/** The same for a name that was not cut. */
export function isCalled(names: readonly string[], program: string): boolean {
  return someFit(names, program, fits);
}

function someFit(
  names: readonly string[],
  program: string,
  isFit: (name: string, form: string) => boolean,
): boolean {
  const written = program.toLowerCase();
  const last = written.split(/[/\\]/).at(-1) ?? '';
  const forms = [written, last, last.split(/\s/, 1)[0] ?? ''].map(withoutSuffix);
  const known = names.map((name) => withoutSuffix(name.toLowerCase()));
  return known.some((name) => forms.some((form) => isFit(name, form)));
}

function fits(name: string, form: string): boolean {
  return name.endsWith('*') ? form.startsWith(name.slice(0, -1)) : form === name;
}

function fitsCut(name: string, form: string): boolean {
  return fits(name, form) || (form.length >= CUT_CHARACTERS && name.startsWith(form));
}

function withoutSuffix(name: string): string {
  return name.replace(/\.exe$/, '');
}
