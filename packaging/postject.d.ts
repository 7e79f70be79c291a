declare module 'postject' {
  type Target = readonly [file: string, resource: string, data: Buffer];
  export function inject(...target: [...Target, { readonly sentinelFuse: string }]): Promise<void>;
}
