import { z } from 'zod';
import { type Manifest, objectsOf } from './render.ts';

const Probe = z.looseObject({
  httpGet: z.looseObject({ path: z.string(), port: z.union([z.string(), z.number()]) }).optional(),
  periodSeconds: z.number().default(10),
  timeoutSeconds: z.number().default(1),
  failureThreshold: z.number().default(3),
});
const Env = z.looseObject({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .looseObject({ secretKeyRef: z.looseObject({ name: z.string(), key: z.string() }).optional() })
    .optional(),
});
const Container = z.looseObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()).optional(),
  args: z.array(z.string()).default([]),
  env: z.array(Env).default([]),
  envFrom: z
    .array(z.object({ configMapRef: z.object({ name: z.string() }).optional(), secretRef: z.unknown().optional() }))
    .default([]),
  lifecycle: z.looseObject({ preStop: z.looseObject({}).optional() }).optional(),
  resources: z.object({
    requests: z.object({ cpu: z.string(), memory: z.string() }),
    limits: z.object({ memory: z.string(), cpu: z.string().optional() }),
  }),
  startupProbe: Probe.optional(),
  livenessProbe: Probe.optional(),
  readinessProbe: Probe.optional(),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.boolean().optional(),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
});
export type Container = z.infer<typeof Container>;

const Labels = z.record(z.string(), z.string());
const Selector = z.object({ matchLabels: Labels });
const Volume = z.looseObject({
  name: z.string(),
  secret: z
    .looseObject({ secretName: z.string(), items: z.array(z.looseObject({ key: z.string() })).optional() })
    .optional(),
  configMap: z.looseObject({ name: z.string() }).optional(),
});

/** What every pod of ours must have: a field that is missing fails the parse. */
const PodSpec = z.strictObject({
  serviceAccountName: z.string(),
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  terminationGracePeriodSeconds: z.number().default(30),
  restartPolicy: z.literal('OnFailure').optional(),
  securityContext: z.looseObject({
    runAsNonRoot: z.literal(true),
    runAsUser: z.number().positive(),
    seccompProfile: z.object({ type: z.literal('RuntimeDefault') }),
  }),
  topologySpreadConstraints: z.array(z.looseObject({ topologyKey: z.string(), labelSelector: Selector })).optional(),
  containers: z.tuple([Container]),
  volumes: z.array(Volume).default([]),
});

const Workload = z.looseObject({
  spec: z.looseObject({
    replicas: z.number().optional(),
    selector: Selector.optional(),
    template: z.looseObject({
      metadata: z.looseObject({ labels: Labels }),
      spec: PodSpec,
    }),
  }),
});

export type Pods = {
  readonly kind: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly replicas: number | undefined;
  readonly selector: Readonly<Record<string, string>> | undefined;
  readonly pod: z.infer<typeof PodSpec>;
  readonly container: Container;
  /** Services and jobs of ours, not the example servers. */
  readonly ours: boolean;
};

export function podsOf(folder: string): readonly Pods[] {
  return objectsOf(folder, 'Deployment', 'StatefulSet', 'Job').map(toPods);
}

export function servicesOf(folder: string): readonly Pods[] {
  return podsOf(folder).filter(({ kind }) => kind === 'Deployment');
}

function toPods(manifest: Manifest): Pods {
  const parsed = Workload.safeParse(manifest);
  if (!parsed.success) throw new Error(`${manifest.kind} ${manifest.metadata.name}: ${z.prettifyError(parsed.error)}`);
  const { replicas, selector, template } = parsed.data.spec;
  const [container] = template.spec.containers;
  return {
    kind: manifest.kind,
    name: manifest.metadata.name,
    replicas,
    container,
    labels: template.metadata.labels,
    selector: selector?.matchLabels,
    pod: template.spec,
    ours: container.name === 'main',
  };
}

export function selects(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

/** `512Mi` → MiB. */
export function toMebibytes(quantity: string): number {
  const match = /^([0-9]+)(Mi|Gi)$/.exec(quantity);
  if (match === null) throw new Error(`not a quantity of memory that is used here: ${quantity}`);
  return Number(match[1]) * (match[2] === 'Gi' ? 1_024 : 1);
}
