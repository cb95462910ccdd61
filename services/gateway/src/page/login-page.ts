import { html } from './html.ts';
import type { PageView } from './layout.ts';

/** A script fills the key in if the address has one after `#`, which no server and no log ever sees. */
export function loginPage(next: string, wrong: string | undefined): PageView {
  return {
    title: 'Sign in',
    body: html`<div class="narrow"><h1>Sign in</h1>
<p class="lead">Tasks, facts and dead letters of one tenant: the one whose API key you give.</p>
${wrong !== undefined && html`<p class="box bad" role="alert">${wrong}</p>`}
<form method="post" action="/login" class="stack" id="login"><input type="hidden" name="next" value="${next}">
<input type="text" name="username" value="tenant" autocomplete="username" hidden>
<label for="key">API key</label><input id="key" name="key" type="password" required autocomplete="current-password" spellcheck="false" autofocus>
<button class="main">Sign in</button></form>
<p class="note">Of a stack on this machine, <code>slate page</code> prints a link that signs you in.</p></div>`,
  };
}
