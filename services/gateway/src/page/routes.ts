import { AppError, isAppError } from '@cleanslate/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { ApiKeys, Caller } from '../http/api-keys.ts';
import { toRefused } from '../http/problem.ts';
import type { Sessions } from '../http/session.ts';
import { type ActionOptions, addActions, SAID } from './actions.ts';
import { addAssets } from './assets.ts';
import { html } from './html.ts';
import { type AssetUrls, PAGE_HEADERS, type PageView, toPage } from './layout.ts';
import { loginPage } from './login-page.ts';
import { addPlaces } from './places.ts';

export type PageOptions = ActionOptions & {
  readonly keys: ApiKeys;
  readonly sessions: Sessions;
  readonly takeTurn: (tenantId: string) => void;
  /** Called for every page that failed by a fault of ours. */
  readonly onFailure: (error: Error, request: FastifyRequest) => void;
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its answers are for people: refusals are pages too. */
    readonly page?: boolean;
  }
}

/** The parts of one view of a place; `caller` has signed in. */
export type Show = (request: FastifyRequest, caller: Caller) => Promise<Omit<PageView, 'tenantId'>>;

const Form = z.record(z.string(), z.string());
/** Only ever back to a place of ours. */
const Next = z
  .string()
  .regex(/^\/(?![/\\])[\x21-\x7e]*$/)
  .catch('/');

/** The page at `/`: read without scripts, changed by forms; scripts only keep it up to date. */
export function addPage(app: FastifyInstance, options: PageOptions): void {
  const assets = addAssets(app);
  readForms(app);
  const callerOf = async (request: FastifyRequest): Promise<Caller | undefined> => {
    const key = options.sessions.readKey(request.headers.cookie);
    if (key === undefined) return undefined;
    const caller = await options.keys.authenticate(key, request.ip).catch((error: unknown) => {
      if (isAppError(error) && error.code === 'UNAUTHORIZED') return undefined;
      throw error;
    });
    if (caller) options.takeTurn(caller.tenantId);
    return caller;
  };
  const refuse = answerPage(assets, callerOf, options.onFailure);
  const show = (url: string, make: Show) => {
    app.get(url, { config: { page: true }, errorHandler: refuse }, async (request, reply) => {
      const caller = await callerOf(request);
      if (caller === undefined) return reply.redirect(`/login?next=${encodeURIComponent(request.url)}`, 303);
      const said = z.object({ said: z.enum(SAID).optional().catch(undefined) }).parse(request.query).said;
      const view = await make(request, caller);
      return send(reply, 200, { ...view, tenantId: caller.tenantId, said: said?.replaceAll('-', ' ') }, assets);
    });
  };
  addPlaces(show, options.ledger);
  addActions(app, options, { callerOf, onError: refuse });
  addLogin(app, options, assets);
}

function addLogin(app: FastifyInstance, { keys, sessions }: PageOptions, assets: AssetUrls): void {
  const config = { page: true };
  app.get('/login', { config }, async (request, reply) => {
    const { next } = z
      .object({ next: Next })
      .parse({ next: '/', ...z.record(z.string(), z.unknown()).parse(request.query) });
    return send(reply, 200, loginPage(next, undefined), assets);
  });
  app.post('/login', { config }, async (request, reply) => {
    const form = Form.parse(request.body ?? {});
    const next = Next.parse(form['next']);
    const key = (form['key'] ?? '').trim();
    try {
      await keys.authenticate(key, request.ip);
    } catch (error) {
      const { status } = toRefused(error, 'POST', 0);
      const wrong =
        status === 401
          ? 'This key is not known here, or no longer good.'
          : 'It can’t be checked now: try again in a moment.';
      return send(reply, status, loginPage(next, wrong), assets);
    }
    const secure = request.headers.origin?.startsWith('https:') === true;
    return reply.header('set-cookie', sessions.start(key, secure)).redirect(next, 303);
  });
  app.post('/logout', { config }, async (_request, reply) =>
    reply.header('set-cookie', sessions.end).redirect('/login', 303),
  );
}

/**
 * Forms are for the page alone, and only from it: another site's page could send one with our cookie, but not with our
 * origin.
 */
function readForms(app: FastifyInstance): void {
  const parser = async (request: FastifyRequest, body: string | Buffer) => {
    if (request.routeOptions.config.page !== true)
      throw Object.assign(new AppError('INVALID_INPUT', 'send the body as `content-type: application/json`'), {
        statusCode: 415,
      });
    return Object.fromEntries(new URLSearchParams(body.toString()));
  };
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string', bodyLimit: 64 * 1024 }, parser);
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.page !== true || request.method === 'GET') return;
    const { origin, host } = request.headers;
    // The first is sent by browsers only on https and localhost; a page can set neither.
    const site = request.headers['sec-fetch-site'];
    const sameOrigin = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
    const ours = site === undefined ? sameOrigin : site === 'same-origin';
    if (ours) return;
    const remedy = 'use the page itself; programs use /v1 with an API key';
    throw Object.assign(new AppError('UNAUTHORIZED', 'a form of another site', { details: { remedy } }), {
      statusCode: 403,
    });
  });
}

/** A refusal as a page: what was wrong, and the way back. */
function answerPage(
  assets: AssetUrls,
  callerOf: (request: FastifyRequest) => Promise<Caller | undefined>,
  onFailure: PageOptions['onFailure'],
) {
  const answer = async (thrown: unknown, request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { error, status } = toRefused(thrown, request.method, 64 * 1024);
    if (status >= 500) onFailure(error, request);
    const caller = await callerOf(request).catch(() => undefined);
    const away = status >= 500 ? 'Something this needs is away. It is tried again when you ask again.' : error.message;
    const title = status === 404 ? 'Not there' : status >= 500 ? 'Not now' : 'That did not work';
    const body = html`<div class="narrow"><h1>${title}</h1><p class="text">${away}</p><p class="note"><code>${error.code}</code> · request ${request.id}</p><p><a href="/">Tasks</a></p></div>`;
    send(reply, status, { title, tenantId: caller?.tenantId, body }, assets);
  };
  return (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => void answer(thrown, request, reply);
}

function send(reply: FastifyReply, status: number, view: PageView, assets: AssetUrls): FastifyReply {
  return reply.code(status).headers(PAGE_HEADERS).send(toPage(view, assets));
}
