import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules", "src/api-types.ts"] },
  eslint.configs.recommended,
  {
    files: ["**/*.{ts,tsx}"],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "max-lines-per-function": ["error", { max: 60 }],
      complexity: ["error", 12],
    },
  },
  { files: ["public/*.js"], languageOptions: { globals: { document: "readonly", localStorage: "readonly" } } },
  { files: ["tests/**"], rules: { "max-lines-per-function": "off" } },
  { files: ["*.mjs"], languageOptions: { globals: { console: "readonly", process: "readonly" } } },
);
