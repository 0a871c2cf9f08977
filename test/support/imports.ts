/** What a module imports, by its text. */

/** Comments may show imports; strings that look like comments are none (`https://`). */
export function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\/|(?<![:"'`\\/])\/\/[^\n]*/g, "");
}

const STATIC = /\b(?:import|export)\b[^;"'`]*?\bfrom\s*["']([^"']+)["']|\bimport\s*["']([^"']+)["']/g;
export const DYNAMIC = /\bimport\(\s*["']([^"']+)["']\s*\)/g;
const FILE_OF_OURS = /\bnew URL\(\s*["'](\.[^"']+\.[jt]s)["']\s*,\s*import\.meta\.url\s*\)/g;

export function importsOf(source: string): readonly string[] {
  const code = withoutComments(source);
  return [STATIC, DYNAMIC, FILE_OF_OURS].flatMap((pattern) =>
    [...code.matchAll(pattern)].map(([, first, second]) => first ?? second ?? ""),
  );
}
