import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Namespace, Secret, Service, ServiceAccount } from 'kubernetes-models/v1';
import type { Manifest } from './render.ts';

type Model = { readonly prototype: { validate(): void } };
const MODELS: Readonly<Record<string, Model>> = {
  'v1/ConfigMap': ConfigMap,
  'v1/Namespace': Namespace,
  'v1/Secret': Secret,
  'v1/Service': Service,
  'v1/ServiceAccount': ServiceAccount,
  'apps/v1/Deployment': Deployment,
  'apps/v1/StatefulSet': StatefulSet,
  'batch/v1/Job': Job,
  'policy/v1/PodDisruptionBudget': PodDisruptionBudget,
  'networking.k8s.io/v1/NetworkPolicy': NetworkPolicy,
  'autoscaling/v2/HorizontalPodAutoscaler': HorizontalPodAutoscaler,
  'keda.sh/v1alpha1/ScaledObject': ScaledObject,
};

/**
 * What is wrong with an object by the typed model of its kind: types, required fields, and
 * fields the model doesn't have.
 */
export function findModelFaults(manifest: Manifest): string[] {
  const name = `${manifest.apiVersion}/${manifest.kind}`;
  const model = MODELS[name];
  if (model === undefined) return [`${name} has no model here`];
  const recorder = new Recorder();
  try {
    // On the object itself: an instance would be a copy, and every field read by then.
    model.prototype.validate.call(recorder.watch(manifest, ''));
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
  return recorder.unread().map((path) => `${path} is no field of ${name}`);
}

/**
 * The models' validators ignore fields they don't know, which is how a misspelt one would pass. They read every field
 * they do know, so what is there and was never read is unknown. A map of free names is read as a whole.
 */
class Recorder {
  readonly #objects: { readonly path: string; readonly keys: readonly string[]; readonly read: Set<string> }[] = [];
  readonly #proxies = new Map<object, object>();

  watch(value: unknown, path: string): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const known = this.#proxies.get(value);
    if (known !== undefined) return known;
    const read = new Set<string>();
    const proxy = new Proxy(value, {
      get: (target, key, receiver) => {
        if (typeof key === 'string') read.add(key);
        return this.watch(Reflect.get(target, key, receiver), `${path}/${String(key)}`);
      },
      ownKeys: (target) => {
        for (const key of Object.keys(target)) read.add(key);
        return Reflect.ownKeys(target);
      },
    });
    this.#proxies.set(value, proxy);
    if (!Array.isArray(value)) this.#objects.push({ path, keys: Object.keys(value), read });
    return proxy;
  }

  unread(): string[] {
    return this.#objects.flatMap(({ path, keys, read }) =>
      keys.filter((key) => !read.has(key)).map((key) => `${path}/${key}`),
    );
  }
}
