import { render } from 'preact';
import './style/tokens.css';
import './style/elements.css';
import './style/controls.css';
import './shell/frame.css';
import { applyTheme } from './shell/preferences.js';
import { App } from './shell/app.js';

applyTheme();
const place = document.getElementById('app');
if (place !== null) render(<App />, place);
